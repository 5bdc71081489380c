package policies

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Site is what is known of one host, or of all of them where the sources do not differ.
type Site struct {
	host    string
	loader  *Loader
	record  *record                       // what outlives the loader
	gone    atomic.Bool                   // it was forgotten
	policy  atomic.Pointer[Policy]        // nil until the first load ended
	first   chan struct{}                 // closed when the first load ended
	tried   sync.Once                     // closes it
	loading atomic.Pointer[chan struct{}] // nil when no load is under way; closed when it ends
	last    atomic.Pointer[outcome]       // of the last load; nil before there was one
	ended   atomic.Int64                  // when that ended, and when to load again: each request looks at them,
	due     atomic.Int64                  // in nanoseconds of Unix time; both 0: at once
	running atomic.Int32                  // own requests that have not ended, also past the bound of their load
	wants   atomic.Bool                   // a visitor, as whom to ask for a robots.txt that is refused to us

	// Only the load in progress touches these.
	documents []*Document // the last good one of each source
	compiled  []*Document // those that the current rules were made of
	failed    bool        // the last load did not go well, and the log says so
	failures  int         // loads that failed before any went well
	refused   refusal     // what the log says of refusals of robots.txt

	pinned atomic.Bool                // the config names it
	again  atomic.Pointer[time.Timer] // has it loaded again; nil: nothing does
	held   *Policy                    // the one whose rules are counted; guarded by hosts.mu
}

// outcome is how a load ended.
type outcome struct {
	loaded     time.Time // when a load last went well; zero if none did
	failure    string    // what is wrong since then; "" if nothing is
	source     string    // where, as a Caddyfile has it; "" for what the site itself answers
	ended, due time.Time // when the load ended and when to load again, by the wall clock
	summary    *Summary  // of what holds
	refused    int       // what our own fetch is answered, where what holds is what a visitor is; else 0
}

// Policy returns what holds for the site, nil while nothing does. It waits for nothing.
func (s *Site) Policy() *Policy { return s.policy.Load() }

// everLoaded reports whether any source ever gave an answer.
func (s *Site) everLoaded() bool {
	return slices.ContainsFunc(s.documents, func(doc *Document) bool { return doc != nil })
}

// everLoadedWell reports whether every source ever gave an answer.
func (s *Site) everLoadedWell() bool {
	return !slices.ContainsFunc(s.documents, func(doc *Document) bool { return !doc.isKnown() })
}

// status returns the 4xx that took the place of a text; 0 if none did.
func (s *Site) status() int {
	for _, doc := range s.documents {
		if doc != nil && doc.Status != 0 {
			return doc.Status
		}
	}
	return 0
}

// isDue reports whether to load again. A clock that has stepped back, to well before the last
// load, would else have the site wait until it is where it was; a little before, the request came
// before that load ended.
func (s *Site) isDue(now time.Time) bool {
	at := now.UnixNano()
	return at >= s.due.Load() || at < s.ended.Load()-int64(time.Minute)
}

// setLast notes how a load ended.
func (s *Site) setLast(o *outcome) {
	s.last.Store(o)
	due := int64(0)
	if !o.due.IsZero() {
		due = o.due.UnixNano()
	}
	s.ended.Store(o.ended.UnixNano())
	s.due.Store(due)
}

// isNew reports whether the site's loader has not loaded it yet, or is to try again.
func (s *Site) isNew(now time.Time) bool {
	o := s.last.Load()
	return o == nil || o.due.IsZero() || o.loaded.IsZero() && !now.Before(o.due)
}

// note remembers how a load ended, and at which source it failed.
func (s *Site) note(now time.Time, again time.Duration, failure error, source string) {
	next := outcome{loaded: now, ended: now.Round(0), due: now.Add(again).Round(0), summary: s.summarize()}
	if doc := s.documents[0]; doc != nil {
		next.refused = doc.refusedStatus
	}
	if failure != nil {
		next.failure, next.source, next.loaded = failure.Error(), source, time.Time{}
		if before := s.last.Load(); before != nil {
			next.loaded = before.loaded
		}
	}
	s.setLast(&next)
}

// summarize returns the figures of what holds. A load that brought nothing new keeps them.
func (s *Site) summarize() *Summary {
	p := s.policy.Load()
	if before := s.last.Load(); before != nil && before.summary != nil && before.summary.of(p) {
		return before.summary
	}
	return p.summary()
}

// State is what a loader knows of one site at one moment.
type State struct {
	Host    string    // "" where the rules are the same for every host
	Policy  *Policy   // what is in force; nil before the first load ended, and where it is put away
	Summary *Summary  // of what is in force; nil before the first load ended
	Loaded  time.Time // when a load last went well; zero if none did
	Due     time.Time // when it is loaded again; zero before the first load ended
	Failure string    // why the last load did not go well; "" if it did
	Source  string    // at which source it failed, as a Caddyfile has it; "" for what the site itself answers
	Refused int       // what our own fetch is answered, where what holds is what a visitor is; else 0
}

// state returns what is known of the site. It is safe for concurrent use.
func (s *Site) state() State {
	st := State{Host: s.host, Policy: s.policy.Load()}
	if o := s.last.Load(); o != nil {
		st.Loaded, st.Failure, st.Source, st.Due = o.loaded, o.failure, o.source, o.due
		st.Summary, st.Refused = o.summary, o.refused
	}
	return st
}
