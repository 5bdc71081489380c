package cli

import (
	"slices"
	"sort"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

const (
	// maxLate and maxHeldBack are how long, in the time of the log, and how many requests are
	// held back for one that came before them.
	maxLate     = time.Minute
	maxHeldBack = 4096
)

// arrivals puts requests into the order in which they came. Servers write them into the log
// when they are answered: one that took a minute stands behind others that came long after
// it, and each would make the other seem too fast. The zero value is empty.
type arrivals struct {
	held []*arrival // in their order
	free []*arrival // for the next ones
}

// arrival is a request, when it came and from whom.
type arrival struct {
	time   time.Time
	who    *crawler.Identity
	record accesslog.Record
}

// add takes the next request of the log, and has those judged before which none is expected.
func (a *arrivals) add(came time.Time, who *crawler.Identity, rec *accesslog.Record, judge func(*arrival)) {
	if len(a.free) == 0 {
		a.free = append(a.free, new(arrival))
	}
	last := len(a.free) - 1
	one := a.free[last]
	a.free = a.free[:last]
	*one = arrival{came, who, *rec}
	place := len(a.held)
	if place > 0 && a.held[place-1].time.After(came) {
		place = sort.Search(place, func(i int) bool { return a.held[i].time.After(came) })
	}
	a.held = slices.Insert(a.held, place, one)
	for len(a.held) > maxHeldBack || rec.Time.Sub(a.held[0].time) > maxLate {
		a.release(judge)
	}
}

// end has those judged that are held back.
func (a *arrivals) end(judge func(*arrival)) {
	for len(a.held) > 0 {
		a.release(judge)
	}
}

func (a *arrivals) release(judge func(*arrival)) {
	one := a.held[0]
	a.held = a.held[1:]
	judge(one)
	a.free = append(a.free, one)
}
