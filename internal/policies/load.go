package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/storage"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// begin loads s in the background, unless that is happening already: then began is false. What an
// earlier loader of this process has loaded is in force when begin returns. The channel is closed
// when the load ends.
func (l *Loader) begin(s *Site) (ended <-chan struct{}, began bool) {
	end := make(chan struct{})
	for !s.loading.CompareAndSwap(nil, &end) {
		if underWay := s.loading.Load(); underWay != nil {
			return *underWay, false
		}
	}
	known := s.policy.Load() != nil || l.recall(s)
	// A handler that is going away refreshes nothing, but the last requests it has still
	// get their rules.
	life := l.life
	if !known {
		life = context.WithoutCancel(life)
	}
	loads := l.cache.strangers
	if known || s.record.isKnown.Load() {
		loads = l.cache.known
	}
	go func() {
		defer close(end)
		defer s.loading.Store(nil)
		if !s.gone.Load() || !known { // nobody asks for rules that were forgotten, but who waits
			loads.do(life, func(ctx context.Context) { l.load(ctx, s) })
		}
	}()
	return end, true
}

// recallAlone is recall for a site of which no load is under way.
func (l *Loader) recallAlone(s *Site) {
	end := make(chan struct{})
	if s.policy.Load() == nil && s.loading.CompareAndSwap(nil, &end) {
		l.recall(s)
		s.loading.Store(nil)
		close(end)
	}
}

// recall compiles again what was put away, or takes up what an earlier loader of this process had
// loaded from the same sources, so that a reload of the config makes nobody wait and forgets
// nothing. It reports whether there was anything.
func (l *Loader) recall(s *Site) bool {
	found := s.last.Load() != nil && s.everLoaded()
	for i, src := range l.cfg.Sources {
		if src.Text != "" || s.documents[i] != nil {
			continue
		}
		if doc, ok := l.cache.hosts.lastGood(s.record, l.documentKey(src, s.host)); ok {
			s.documents[i], found = doc, true
		}
	}
	if found {
		if o := l.cache.hosts.outcome(s.record, l.Key(s.host)); o != nil && s.last.Load() == nil {
			// Another config may serve another text, so it is looked at as soon as somebody asks.
			taken := *o
			taken.due = time.Time{}
			s.setLast(&taken)
		}
		rules, _ := l.compile(s)
		l.publish(s, rules)
		s.tried.Do(func() { close(s.first) })
	}
	return found
}

// load asks every source once, all at a time, and puts the outcome in force.
func (l *Loader) load(life context.Context, s *Site) {
	bound := LoadTimeout
	if s.policy.Load() == nil {
		bound -= LoadTimeout / 10 // who waits as long as that is to have the outcome
	}
	ctx, cancel := context.WithTimeout(life, bound)
	defer cancel()
	errs := make([]error, len(l.cfg.Sources))
	var wg sync.WaitGroup
	for i, src := range l.cfg.Sources {
		if src.Text == "" {
			wg.Go(func() { s.documents[i], errs[i] = l.loadSource(ctx, s, src, s.documents[i]) })
		}
	}
	wg.Wait()
	if life.Err() != nil && context.Cause(life) != errCrowded {
		return // the handler is gone; what its server answered now means nothing
	}
	l.apply(s, errors.Join(errs...), l.failing(errs))
	for i, src := range l.cfg.Sources {
		if doc := s.documents[i]; doc.isKnown() && l.urls[src] != "" {
			l.stored.Save(life, storage.Document{
				Address: l.urls[src], Name: src.String(), Since: doc.Since, ETag: doc.ETag,
				LastModified: doc.LastModified, Forbidden: doc.Forbidden, Text: doc.Text,
			})
		}
	}
}

// failing returns the first source that gave an error, as a Caddyfile has it; "" for what the site itself answers.
func (l *Loader) failing(errs []error) string {
	for i, src := range l.cfg.Sources {
		if errs[i] != nil && !src.isOwn() {
			return src.String()
		}
	}
	return ""
}

// loadSource asks one source; last is what it gave before, if anything, and what it gives still
// when there is an error.
func (l *Loader) loadSource(ctx context.Context, s *Site, src Source, last *Document) (*Document, error) {
	if last == nil && l.urls[src] != "" {
		l.stored.Load(ctx, l.urls[src], src.String(), func(d storage.Document) error {
			last = &Document{Text: d.Text, Forbidden: d.Forbidden, ETag: d.ETag, LastModified: d.LastModified, Since: d.Since}
			return nil
		})
	}
	doc, err := l.fetch(ctx, src, s, last)
	if err == nil && robotsrules.IsHTML(doc.Text) {
		err = errPage
		if last == nil {
			last = &Document{page: true}
		}
	}
	switch {
	case err == nil:
		doc.Since = l.cfg.Now()
		if last != nil && last.Text == doc.Text && !last.page {
			doc.Since = last.Since
		}
		last = &doc
	case !last.isKnown():
		err = fmt.Errorf("%s: %w; it was never loaded", src, err)
	default:
		err = fmt.Errorf("%s: %w; its text, in force since %s, holds", src, err, last.Since.UTC().Format(time.RFC3339))
	}
	if last.isKnown() && l.life.Err() == nil {
		l.cache.hosts.keep(s.record, l.documentKey(src, s.host), last)
	}
	return last, err
}

// apply puts what was loaded in force, reports it, and says when to look again. A load that failed, at
// a source, changes nothing that was loaded before.
func (l *Loader) apply(s *Site, failure error, source string) {
	previous := s.policy.Load().rules()
	rules, fresh := l.compile(s)
	l.publish(s, rules)
	s.note(l.cfg.Now(), l.interval(s, failure), failure, source)
	l.cache.hosts.note(s.record, l.Key(s.host), s.last.Load())
	s.tried.Do(func() { close(s.first) })
	if s.failures > 0 && s.pinned.Load() {
		l.tryAgain(s) // else whoever asks has it loaded
	}
	ended := Load{Host: s.host, Previous: previous, Rules: rules, Failure: failure, Status: s.status(), answered: s.everLoaded()}
	l.report(s, &ended, fresh)
	if l.cfg.Loaded != nil {
		l.cfg.Loaded(&ended)
	}
}

// tryAgain has a site loaded, gently, soon after that is due. What waits does not outlive the loader.
func (l *Loader) tryAgain(s *Site) {
	again := time.AfterFunc(s.last.Load().due.Sub(l.cfg.Now())+gentlePause, func() { l.cache.gentle.add(s) })
	if before := s.again.Swap(again); before != nil {
		before.Stop()
	}
	if l.life.Err() != nil { // close may have been before it
		again.Stop()
	}
}

// publish makes rules the ones that hold for s.
func (l *Loader) publish(s *Site, rules *Rules) {
	previous := s.policy.Load()
	if previous != nil && previous.Rules == rules && previous.Loaded == s.everLoaded() {
		return
	}
	next := l.nextPolicy(s, rules)
	s.policy.Store(next)
	l.cache.hosts.publish(s, next)
}

// compile joins the documents that there are, in their order.
func (l *Loader) compile(s *Site) (rules *Rules, fresh bool) {
	if !s.everLoaded() {
		return l.unreachable(), false
	}
	same := slices.EqualFunc(s.compiled, s.documents, sameRules)
	s.compiled = slices.Clone(s.documents)
	if p := s.policy.Load(); same && p != nil {
		return p.Rules, false
	}
	var parts []robotsrules.Part
	var from provenance
	for i, doc := range s.documents {
		if doc == nil {
			continue
		}
		src := l.cfg.Sources[i]
		parts = append(parts, robotsrules.Part{Name: src.title(s.host), Text: doc.Text, OnlyDisallowAll: src.OnlyDisallowAll})
		if !src.OnlyDisallowAll {
			from.denied = cmp.Or(from.denied, deniedBy(doc, l.cfg.Reading.Dialect))
		}
		from.foreign = from.foreign || doc.foreign
	}
	text, notes := robotsrules.Join(parts, l.cfg.Reading)
	return l.cache.library.compile(text, notes, from, whole(l.cfg.Reading, text), l.cfg.Match)
}

// unreachable returns the rules that hold while none could be loaded.
func (l *Loader) unreachable() *Rules {
	var from provenance
	if l.cfg.DenyUnknown {
		from.denied = deniedUnreachable
	}
	rules, _ := l.cache.library.compile("", nil, from, l.cfg.Reading, l.cfg.Match)
	return rules
}

// firstRetry is how soon a load is tried again that failed before any went well. The time doubles
// with each.
const firstRetry = time.Second

// interval is how long the rules stay in force before the sources are asked again: what the
// shortest-lived document says, within the refresh and [MaxRefresh].
func (l *Loader) interval(s *Site, failure error) time.Duration {
	if failure != nil && !s.everLoadedWell() {
		s.failures++
		return min(l.cfg.Refresh, firstRetry<<min(s.failures-1, 20))
	}
	s.failures = 0
	if failure != nil {
		return l.cfg.Refresh
	}
	shortest := MaxRefresh
	for i, doc := range s.documents {
		if l.cfg.Sources[i].Text == "" {
			shortest = min(shortest, doc.Lifetime)
		}
	}
	return max(l.cfg.Refresh, shortest)
}
