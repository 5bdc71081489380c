package integration

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"time"
)

// Messages of the robots module that tests wait for or count.
const (
	msgRefused     = "robot refused"
	msgObserved    = "robot observed, not refused"
	msgLoaded      = "robots.txt loaded"
	msgChanged     = "robots.txt changed"
	msgUnavailable = "robots.txt could not be loaded; what was loaded before holds"
	msgLost        = "robots.txt is refused or gone; its rules do not hold any more"
	msgNeverLoaded = "robots.txt could not be loaded, and nothing of it was loaded before"
	msgAvailable   = "robots.txt can be loaded again"
)

// line is one line of Caddy's log. It is nil for one that is not JSON.
type line map[string]any

// text returns a field as a string, "" if there is none.
func (l line) text(field string) string {
	s, _ := l[field].(string)
	return s
}

// logbook is an io.Writer that keeps what a process logs. It is safe for concurrent use.
type logbook struct {
	mu      sync.Mutex
	raw     bytes.Buffer
	partial []byte // of a line that has not ended
	lines   []line
	grown   chan struct{} // closed, and made anew, with each write
}

func newLogbook() *logbook { return &logbook{grown: make(chan struct{})} }

// Write implements io.Writer.
func (b *logbook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raw.Write(p)
	b.partial = append(b.partial, p...)
	for {
		one, rest, ended := bytes.Cut(b.partial, []byte("\n"))
		if !ended {
			break
		}
		var l line
		_ = json.Unmarshal(one, &l) // what is not JSON counts as a line all the same
		b.lines = append(b.lines, l)
		b.partial = rest
	}
	close(b.grown)
	b.grown = make(chan struct{})
	return len(p), nil
}

// String returns the whole log.
func (b *logbook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.raw.String()
}

// all returns the lines that every test in matches holds for.
func (b *logbook) all(matches ...func(line) bool) []line {
	found, _ := b.look(matches)
	return found
}

// look returns the lines that match, and a channel that is closed when there are more
// lines to look at.
func (b *logbook) look(matches []func(line) bool) (found []line, grown <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, l := range b.lines {
		for _, match := range matches {
			if !match(l) {
				continue next
			}
		}
		found = append(found, l)
	}
	return found, b.grown
}

// wait returns the first line that matches, and waits for it. A process that ends fails
// the test.
func (b *logbook) wait(tb testing.TB, what string, ended <-chan struct{}, matches ...func(line) bool) line {
	tb.Helper()
	deadline := time.After(patience)
	for {
		found, grown := b.look(matches)
		if len(found) > 0 {
			return found[0]
		}
		select {
		case <-grown:
		case <-ended:
			tb.Fatalf("caddy ended while waiting for its log to say that %s:\n%s", what, tail(b.String(), 5000))
		case <-deadline:
			tb.Fatalf("waited %s in vain for the log to say that %s", patience, what)
		}
	}
}

// message matches lines with this message.
func message(msg string) func(line) bool { return field("msg", msg) }

// field matches lines in which a field is this text.
func field(name, value string) func(line) bool {
	return func(l line) bool { return l.text(name) == value }
}
