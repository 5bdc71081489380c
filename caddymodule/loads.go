package caddymodule

// loadResult is how the load of a robots.txt ended. The zero value is unchanged.
type loadResult uint8

const (
	loadUnchanged loadResult = iota
	loadChanged
	loadFailed
)

const loadResults = int(loadFailed) + 1

// String returns the result's word.
func (r loadResult) String() string { return [loadResults]string{"unchanged", "changed", "failed"}[r] }

// load is the end of a load of robots.txt: what held before, nil if nothing did, and what
// holds now.
type load struct {
	site            *site
	previous, rules *ruleset
	failure         error
}

// result sums the load up. The first one that goes well is a change.
func (l *load) result() loadResult {
	switch {
	case l.failure != nil:
		return loadFailed
	case l.previous == l.rules:
		return loadUnchanged
	default:
		return loadChanged
	}
}

// isAnswer tells whether any source has given the rules: without one they are the site's own
// for that case.
func (l *load) isAnswer() bool { return l.failure == nil || l.site.everLoaded() }

// isChange tells whether other rules took the place of those that were in force.
func (l *load) isChange() bool {
	return l.previous != nil && l.previous != l.rules && l.isAnswer()
}

// loaded makes the end of a load known to metrics and events, as soon as Caddy has started.
func (h *Handler) loaded(l load) {
	isChange := l.isChange() // what it looks at belongs to the load in progress
	h.watched.start.then(func() {
		for _, site := range h.placesOf(l.site.host) {
			site.loads[l.result()].Add(1)
		}
		if isChange {
			h.watched.events.changed(h.placesOf(l.site.host), &l)
		}
	})
}

// placesOf returns the places that a site of the loader stands for, by its host: the one of its host or,
// where all hosts have the same rules, those that the handler stands in.
func (h *Handler) placesOf(host string) []*siteCounts {
	p := h.watched.places.Load()
	if h.loader.perHost {
		return []*siteCounts{p.of(host)}
	}
	return p.own
}
