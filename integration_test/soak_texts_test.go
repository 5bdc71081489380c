//go:build soak

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// What the texts of the soak are made of, and what is asked for.
var (
	soakTokens   = []string{"*", "GPTBot", "bingbot", "RogueBot", "made-up", "made-up-1", "curl", "python", "python-requests", "Chrome", "Firefox"}
	soakPatterns = []string{
		"/", "/private/", "/private/open", "/search", "/a", "/ab", "/*.pdf$", "/*?print=", "/a*z", "/page$", "",
	}
	soakTargets = []string{
		"/", "/page", "/private/", "/private/open", "/private/page.pdf", "/search?q=a", "/a", "/abz", "/about", "/page?print=1", "/search",
	}
)

// randomText makes up a robots.txt, of fewer bytes than a reader takes at once.
func randomText(random *rand.Rand) string {
	var text strings.Builder
	for range 1 + random.IntN(5) {
		for range 1 + random.IntN(2) {
			fmt.Fprintf(&text, "User-agent: %s\n", pick(random, soakTokens))
		}
		for range 1 + random.IntN(3) {
			fmt.Fprintf(&text, "%s: %s\n", pick(random, []string{"Disallow", "Disallow", "Allow"}), pick(random, soakPatterns))
		}
	}
	return text.String()
}

// half returns a text that ends in the middle, though not of a User-agent line, since of one
// that names somebody else the twin knows nothing.
func half(random *rand.Rand, text string) string {
	text = text[:random.IntN(len(text))]
	if start := strings.LastIndexByte(text, '\n') + 1; strings.HasPrefix(text[start:], "User-a") {
		return text[:start]
	}
	return text
}

// spelt returns another spelling of a target.
func spelt(random *rand.Rand, target string) string {
	switch i := 1 + random.IntN(len(target)); random.IntN(12) {
	case 0:
		return "/" + target
	case 1:
		return "/." + target
	case 2:
		return "/away/.." + target
	case 3:
		if i < len(target) && target[i] >= 'a' && target[i] <= 'z' {
			return fmt.Sprintf("%s%%%02x%s", target[:i], target[i], target[i+1:])
		}
	}
	return target
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// remembered is how long a history goes back.
const remembered = 10 * time.Minute

// history is what a source answered, and when. It is safe for concurrent use.
type history struct {
	window time.Duration // in which a change is in force

	mu   sync.Mutex // guards past
	past []stretch
}

// stretch is the time in which a source answered alike. It may overlap the next one, for as
// long as the change took.
type stretch struct {
	from, until time.Time // until is zero while it lasts
	creed       *creed    // nil: it could not be had, so what was loaded before holds
}

// change notes that a source answers otherwise, from some moment during do.
func (h *history) change(to *creed, do func()) {
	h.mu.Lock()
	now := time.Now()
	for len(h.past) > 1 && !h.past[0].until.IsZero() && now.Sub(h.past[0].until) > remembered {
		h.past = h.past[1:]
	}
	h.past = append(h.past, stretch{from: now, creed: to})
	h.mu.Unlock()

	do()

	h.mu.Lock()
	defer h.mu.Unlock()
	if before := len(h.past) - 2; before >= 0 {
		h.past[before].until = time.Now()
	}
}

// inForce returns what may have been in force between two moments: all that the source
// answered since a window before, and where it did not, since a window before that began.
func (h *history) inForce(from, to time.Time) []*creed {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, since := len(h.past), from.Add(-h.window)
	for first > 0 {
		s := h.past[first-1]
		if !s.until.IsZero() && s.until.Before(since) {
			break
		}
		first--
		if earlier := s.from.Add(-h.window); s.creed == nil && earlier.Before(since) {
			since = earlier
		}
	}
	var possible []*creed
	for _, s := range h.past[first:] {
		if s.creed != nil && s.from.Before(to) {
			possible = append(possible, s.creed)
		}
	}
	return possible
}
