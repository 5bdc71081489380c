package integration

import (
	"net"
	"os"
	"sync"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// An evasion is a spelling and where it is tried.
type evasion struct {
	site *evadedSite
	spelling
}

// evasions sends what is to be tried at all sites to each, and closes it: spellings of
// every kind for every page, and pairs of kinds for some. ROBOTS_EVASION=all has all of
// them tried, which takes a while.
func (e *evaded) evasions(each chan<- evasion) {
	defer close(each)
	ofPage, ofWhole, ofPair := 1, 40, 2
	switch {
	case os.Getenv("ROBOTS_EVASION") == "all":
		ofPage, ofWhole, ofPair = 1000, 1000, 5
	case testutil.Race:
		ofPage, ofWhole, ofPair = 1, 5, 1
	}
	for i := range e.sites {
		site := &e.sites[i]
		send := func(all []spelling) {
			for _, s := range all {
				each <- evasion{site, s}
			}
		}
		for turn, target := range site.targets {
			send([]spelling{{nil, target}})
			send(singles(target, ofPage, turn+i))
		}
		for turn, target := range site.whole {
			send(singles(target, ofWhole, turn+i))
		}
		send(pairs(site.whole[i%2], ofPair, i))
	}
}

// tryAll judges evasions over several connections at once.
func (e *evaded) tryAll(t *testing.T, open func(net.Conn) (exchange, error), all <-chan evasion) *outcomes {
	y := newOutcomes()
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			w := &wire{address: e.address(), open: open}
			defer w.close()
			for a := range all {
				y.add(a.spelling, a.site.judge(t, w, a.spelling))
			}
		})
	}
	workers.Wait()
	return y
}

func TestNoSpellingEvades(t *testing.T) {
	full(t, "this takes a minute")
	e := startEvaded(t)
	all := make(chan evasion)
	go e.evasions(all)
	y := e.tryAll(t, http1, all)
	if testutil.Race {
		y.check(t, 4_000)
	} else {
		y.check(t, 12_000)
	}
	for _, kind := range []string{"parameters", "backslash"} {
		if y.limited[kind] == 0 {
			t.Errorf("%s: none was served as another page, so this is no limit", kind)
		}
	}
}

func TestNoSpellingEvadesOverHTTP2(t *testing.T) {
	e := startEvaded(t)
	all := make(chan evasion)
	go func() {
		defer close(all)
		for i := range e.sites {
			for turn, target := range e.sites[i].whole {
				for _, s := range singles(target, 3, turn+i) {
					all <- evasion{&e.sites[i], s}
				}
			}
			for _, target := range e.sites[i].targets {
				for _, s := range singles(target, 1, i) {
					all <- evasion{&e.sites[i], s}
				}
			}
			for _, target := range []string{"", "*", "/", "private/page.html", "#", "?", "/#", "/private/page.html#/../../open.html", "x://y/private/page.html"} {
				all <- evasion{&e.sites[i], spelling{nil, target}}
			}
		}
	}()
	e.tryAll(t, http2Cleartext, all).check(t, 1_000)
}
