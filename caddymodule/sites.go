package caddymodule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// siteState is what a loader knows of one site at one moment.
type siteState struct {
	host    string    // "" where the rules are the same for every host
	edition *edition  // what is in force; nil before the first load ended
	loaded  time.Time // when a load last went well; zero if none did
	due     time.Time // when it is loaded again; zero before the first load ended
	failure string    // why the last load did not go well; "" if it did
}

// note remembers how a load ended.
func (s *site) note(now time.Time, failure error) {
	next := outcome{loaded: now}
	if failure != nil {
		next = outcome{failure: failure.Error()}
		if before := s.outcome.Load(); before != nil {
			next.loaded = before.loaded
		}
	}
	s.outcome.Store(&next)
}

// state returns what is known of the site. It is safe for concurrent use.
func (s *site) state() siteState {
	st := siteState{host: s.host, edition: s.current.Load()}
	if o := s.outcome.Load(); o != nil {
		st.loaded, st.failure, st.due = o.loaded, o.failure, time.Unix(0, s.due.Load())
	}
	return st
}

// states returns what is known of each site, by host.
func (l *loader) states() []siteState {
	sites, _ := l.sites.all()
	var states []siteState
	for _, s := range sites {
		states = append(states, s.state())
	}
	slices.SortFunc(states, func(a, b siteState) int { return cmp.Compare(a.host, b.host) })
	return states
}

// errUnknownSite is the answer for a host that no robot has asked for yet.
var errUnknownSite = errors.New("no robots.txt of this host is loaded; it is with the first request of a robot")

// refreshNow loads the rules of a host and returns when that has ended, or ctx has. What the
// sources answer from now on is in force then.
func (l *loader) refreshNow(ctx context.Context, host string) (siteState, error) {
	if !l.perHost {
		host = ""
	}
	s, ok := l.sites.get(host)
	if !ok {
		return siteState{}, errUnknownSite
	}
	err := l.loadAgain(ctx, s)
	return s.state(), err
}

// loadAgain begins a load of s, after the one under way, and returns when it has ended.
func (l *loader) loadAgain(ctx context.Context, s *site) error {
	for {
		ended, began := l.begin(s)
		select {
		case <-ended:
			if began {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
