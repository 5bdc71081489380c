package caddymodule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	// maxLoads bounds how many loads of one handler run at once: made-up hosts can ask
	// for any number.
	maxLoads = 16

	// fewHosts is how many hosts are kept fresh whether they are asked for again or not.
	fewHosts = 64
)

// loader keeps the rules of the sites that a handler stands in front of: loads them when
// a host is first asked for, and again in the background, so that nobody waits. It is
// safe for concurrent use.
type loader struct {
	settings settings
	parts    []part
	perHost  bool     // false: one site serves every host
	traps    []string // paths that the rules are to keep from all robots
	shared   *shared
	kept     *sourceStore // nil: nothing outlives the process
	log      *zap.Logger
	now      func() time.Time

	sites  *table[*site]
	origin atomic.Pointer[origin]
	slots  chan struct{}

	// life ends with the handler and takes the refreshes in flight with it.
	life context.Context

	loaded func(load) // is told how each load ended
}

func newLoader(s settings, sources []Source, sh *shared, log *zap.Logger, now func() time.Time) *loader {
	l := &loader{
		settings: s, shared: sh, log: log, now: now, loaded: func(load) {},
		sites: newTable[*site](maxHosts, maxHostText),
		slots: make(chan struct{}, maxLoads),
	}
	if len(sources) == 0 {
		l.perHost, l.parts = true, []part{l.ownPart()}
		return l
	}
	for _, src := range sources {
		l.perHost = l.perHost || src.perHost()
		l.parts = append(l.parts, l.sourcePart(src))
	}
	return l
}

// start loads what needs no host and begins the background refresh, which ends with ctx.
func (l *loader) start(ctx context.Context) {
	l.life = ctx
	if !l.perHost {
		l.begin(l.site(""))
	}
	go every(l.tick(), ctx.Done(), func() { l.refresh(l.now()) })
}

// tick is how often sites are looked over. A site is loaded again one tick before its
// time, so that a change is seen within the refresh the owner asked for.
func (l *loader) tick() time.Duration {
	return min(max(l.settings.refresh/10, 100*time.Millisecond), 10*time.Second)
}

// refresh begins to load the sites that are due at now. Where there are many, a host that
// was asked for only once is forgotten instead: made-up hosts are not kept fresh.
func (l *loader) refresh(now time.Time) {
	sites, again := l.sites.all()
	for i, s := range sites {
		switch {
		case !s.isDue(now) || s.current.Load() == nil:
		case len(sites) > fewHosts && !again[i]:
			l.sites.remove(s.host)
		default:
			l.begin(s)
		}
	}
}

// meet notes the server that the handler stands in, from the first request that it gets.
func (l *loader) meet(r *http.Request) {
	if l.origin.Load() == nil {
		if o := originOf(r); o != nil {
			l.origin.CompareAndSwap(nil, o)
		}
	}
}

// inForce returns the rules for the host, as hostOf gives it, together with what held before
// them. The first request r of a host waits for them, no longer than loadTimeout; no other
// ever waits.
func (l *loader) inForce(r *http.Request, host string) *edition {
	s := l.siteOf(host)
	if e := s.current.Load(); e != nil {
		return e
	}
	return l.await(r.Context(), s)
}

// known returns the rules for the host, nil while there are none: it waits for nothing, but
// has them loaded.
func (l *loader) known(host string) *edition {
	s := l.siteOf(host)
	if s.current.Load() == nil {
		l.begin(s)
	}
	return s.current.Load()
}

// siteOf returns the site that has this host, made if need be.
func (l *loader) siteOf(host string) *site {
	if !l.perHost {
		host = ""
	}
	if s, ok := l.sites.get(host); ok {
		return s
	}
	return l.site(host)
}

// site returns the site of host, made if need be.
func (l *loader) site(host string) *site {
	host = strings.Clone(host) // not to keep the request it is a part of
	return l.sites.add(host, func() *site {
		s := &site{host: host, first: make(chan struct{}), documents: make([]*document, len(l.parts))}
		for i, p := range l.parts {
			s.documents[i] = p.fixed
		}
		return s
	})
}

// await begins the first load of s, unless it is under way, and waits for its end.
func (l *loader) await(ctx context.Context, s *site) *edition {
	l.begin(s)
	patience := time.NewTimer(loadTimeout)
	defer patience.Stop()
	select {
	case <-s.first:
	case <-ctx.Done():
	case <-patience.C:
	}
	if e := s.current.Load(); e != nil {
		return e
	}
	return &edition{ruleset: l.unreachable()}
}

// begin loads s in the background, unless that is happening already: then began is false.
// What an earlier handler of this process has loaded is in force when begin returns. The
// channel is closed when the load ends.
func (l *loader) begin(s *site) (ended <-chan struct{}, began bool) {
	end := make(chan struct{})
	for !s.loading.CompareAndSwap(nil, &end) {
		if underWay := s.loading.Load(); underWay != nil {
			return *underWay, false
		}
	}
	known := s.current.Load() != nil || l.recall(s)
	// A handler that is going away refreshes nothing, but the last requests it has still
	// get their rules.
	life := l.life
	if !known {
		life = context.WithoutCancel(life)
	}
	go func() {
		defer close(end)
		defer s.loading.Store(nil)
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
			l.load(life, s)
		case <-life.Done():
		}
	}()
	return end, true
}

// load asks every source once, all at a time, and puts the outcome in force.
func (l *loader) load(life context.Context, s *site) {
	bound := loadTimeout
	if s.current.Load() == nil {
		bound -= loadTimeout / 10 // who waits as long as that is to have the outcome
	}
	ctx, cancel := context.WithTimeout(life, bound)
	defer cancel()
	errs := make([]error, len(l.parts))
	var wg sync.WaitGroup
	for i, p := range l.parts {
		if p.fixed == nil {
			wg.Go(func() { s.documents[i], errs[i] = l.loadPart(ctx, s, p, s.documents[i]) })
		}
	}
	wg.Wait()
	if life.Err() != nil {
		return // the handler is gone; what its server answered now means nothing
	}
	l.enforce(s, errors.Join(errs...))
	l.keep(life, s)
}

// loadPart asks one source; last is what it gave before, if anything, and what it gives
// still when there is an error.
func (l *loader) loadPart(ctx context.Context, s *site, p part, last *document) (*document, error) {
	if last == nil && p.stored() {
		last = l.kept.load(ctx, p)
	}
	doc, err := p.fetch(ctx, s, last)
	switch {
	case err == nil:
		doc.since = l.now()
		if last != nil && last.text == doc.text {
			doc.since = last.since
		}
		last = &doc
	case last == nil:
		err = fmt.Errorf("%s: %w; nothing of it is known", p.name, err)
	default:
		err = fmt.Errorf("%s: %w; what it has answered since %s holds", p.name, err, last.since.UTC().Format(time.RFC3339))
	}
	if key := p.key(s.host); key != "" && last != nil && l.life.Err() == nil {
		l.shared.lastGood.put(key, last, int64(len(last.text)))
	}
	return last, err
}

// keep puts what the sources answered into Caddy's storage.
func (l *loader) keep(ctx context.Context, s *site) {
	for i, p := range l.parts {
		if doc := s.documents[i]; p.stored() && doc != nil {
			l.kept.keep(ctx, p, doc)
		}
	}
}

// recall takes up what an earlier handler of this process had loaded from the same
// sources, so that a config reload makes nobody wait and forgets nothing. It tells whether
// there was anything.
func (l *loader) recall(s *site) bool {
	found := false
	for i, p := range l.parts {
		if p.fixed != nil {
			continue
		}
		if doc, ok := l.shared.lastGood.get(p.key(s.host)); ok {
			s.documents[i], found = doc, true
		}
	}
	if found {
		rules, _ := l.compile(s)
		l.publish(s, rules)
	}
	return found
}

// enforce puts what was loaded in force, tells the log, and says when to look again. A
// load that failed changes nothing that was loaded before.
func (l *loader) enforce(s *site, failure error) {
	previous := s.current.Load().held()
	rules, fresh := l.compile(s)
	l.publish(s, rules)
	now := l.now()
	s.ended.Store(now.UnixNano())
	s.due.Store(now.Add(l.interval(s.documents) - l.tick()).UnixNano())
	s.note(now, failure)
	ended := load{s, previous, rules, failure}
	l.report(&ended, fresh)
	l.loaded(ended)
}

// publish makes rules the ones that hold for s.
func (l *loader) publish(s *site, rules *ruleset) {
	previous := s.current.Load()
	if previous != nil && previous.ruleset == rules && previous.loaded == s.everLoaded() {
		return
	}
	next := l.edition(s, rules)
	s.current.Store(next)
	if previous == nil {
		close(s.first)
	}
	weight := len(next.text)
	if next.earlier != nil {
		weight += len(next.earlier.rules.text)
	}
	l.sites.weigh(s.host, int64(weight))
}

// compile joins the documents that there are, in their order.
func (l *loader) compile(s *site) (rules *ruleset, fresh bool) {
	if !s.everLoaded() {
		return l.unreachable(), false
	}
	same := slices.EqualFunc(s.compiled, s.documents, sameAnswer)
	s.compiled = slices.Clone(s.documents)
	if e := s.current.Load(); same && e != nil {
		return e.ruleset, false
	}
	var parts []robotsrules.Part
	denied := ""
	for i, doc := range s.documents {
		if doc == nil {
			continue
		}
		p := robotsrules.Part{Text: doc.text, OnlyDisallowAll: l.parts[i].limited}
		if l.parts[i].title != nil {
			p.Name = l.parts[i].title(s.host)
		}
		parts = append(parts, p)
		if !l.parts[i].limited {
			denied = cmp.Or(denied, l.settings.deniedBy(doc))
		}
	}
	text, notes := robotsrules.Join(parts, l.settings.reading)
	return l.shared.library.compileNoted(text, notes, denied, l.settings.whole(text))
}

// sameAnswer tells whether two documents make no difference.
func sameAnswer(a, b *document) bool {
	return a == b || a != nil && b != nil && a.text == b.text && a.forbidden == b.forbidden
}

// unreachable returns the rules that hold while none could be loaded.
func (l *loader) unreachable() *ruleset {
	denied := ""
	if l.settings.denyUnknown {
		denied = deniedUnreachable
	}
	rules, _ := l.shared.library.compile("", denied, l.settings)
	return rules
}

// interval is how long the rules stay in force before the sources are asked again: what
// the shortest-lived document says, within [refresh, 24h].
func (l *loader) interval(documents []*document) time.Duration {
	shortest := maxRefresh
	for i, doc := range documents {
		if doc == nil {
			return l.settings.refresh
		}
		if l.parts[i].fixed == nil {
			shortest = min(shortest, doc.lifetime)
		}
	}
	return max(l.settings.refresh, shortest)
}
