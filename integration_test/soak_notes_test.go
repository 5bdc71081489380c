//go:build soak

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"
)

// notes are what the visitors of the soak saw: figures, and of what was wrong the first. They
// are safe for concurrent use, and take no more memory the longer it goes on.
type notes struct {
	t      *testing.T
	wrongs atomic.Int64

	mu     sync.Mutex // guards the maps
	events map[string]int64
	checks map[string]*checks
}

// checks are how many answers the twin was asked about, and of how many it knew just one that
// is right.
type checks struct{ all, exact int64 }

func newNotes(t *testing.T) *notes {
	return &notes{t: t, events: make(map[string]int64), checks: make(map[string]*checks)}
}

// wrong notes what must not be.
func (n *notes) wrong(format string, args ...any) {
	n.t.Helper()
	if n.wrongs.Add(1) <= 20 {
		n.t.Errorf(time.Now().Format(time.StampMilli)+" "+format, args...)
	}
}

// did notes that something happened.
func (n *notes) did(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events[what]++
}

// times tells how often something happened.
func (n *notes) times(what string) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.events[what]
}

// checked notes that an answer was compared, with the only one that is right or with some.
func (n *notes) checked(what string, exact bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.checks[what]
	if c == nil {
		c = new(checks)
		n.checks[what] = c
	}
	c.all++
	if exact {
		c.exact++
	}
}

// audience counts the answers to visitors of one sort.
type audience struct {
	name    string
	lost    atomic.Int64      // requests without an answer: those of connections that a reload ended
	answers [600]atomic.Int64 // by status
}

func (f *audience) count(status int) { f.answers[status].Add(1) }

// ask sends a request, again if need be, and tells between which moments it was answered.
func (s *soak) ask(f *audience, web *http.Client, q request) (a answer, from, to time.Time, err error) {
	from = time.Now()
	a, err = persistent(web, q, "http://"+s.c.address())
	to = time.Now()
	if err != nil {
		f.lost.Add(1)
		s.wrong("%s%s for %q: %v", q.host, q.path, q.agent, err)
		return a, from, to, err
	}
	f.count(a.status)
	return a, from, to, nil
}

// answered returns how often a status was answered.
func (s *soak) answered(status int) (n int64) {
	for _, f := range s.audiences() {
		n += f.answers[status].Load()
	}
	return n
}

// expectFewLost fails the test for more requests without an answer than what a reload may end:
// so many that were under way, and as many again on connections that came too late.
func (s *soak) expectFewLost(f *audience, underWay int64) {
	s.t.Helper()
	if got, most := f.lost.Load(), 2*underWay*s.times("reloads"); got > most {
		s.t.Errorf("%s: got %d requests without an answer, want at most %d", f.name, got, most)
	}
}

// table is all that was seen.
func (s *soak) table(samples []gauge) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) {
		for _, cell := range cells {
			fmt.Fprintf(w, "%v\t", cell)
		}
		fmt.Fprintln(w)
	}
	row("answers", "200", "403", "429", "others", "none")
	for _, f := range s.audiences() {
		others := int64(0)
		for status := range f.answers {
			if status != 200 && status != 403 && status != 429 {
				others += f.answers[status].Load()
			}
		}
		row(f.name, f.answers[200].Load(), f.answers[403].Load(), f.answers[429].Load(), others, f.lost.Load())
	}
	row()
	row("checks by the twin", "all", "of one right answer")
	for _, what := range slices.Sorted(maps.Keys(s.checks)) {
		row(what, s.checks[what].all, s.checks[what].exact)
	}
	row("wrong", s.wrongs.Load())
	row()
	for _, what := range slices.Sorted(maps.Keys(s.events)) {
		row(what, s.events[what])
	}
	row()
	row("Caddy", "goroutines", "heap KiB", "files", "resident KiB")
	for _, m := range samples {
		row(m.when, m.goroutines, m.heap>>10, m.files, m.resident>>10)
	}
	w.Flush()
	return text.String()
}
