//go:build soak

package integration

import (
	"math/rand/v2"
	"net/http"
	"os"
	"time"
)

// rewrite changes the file of a site, in all the ways in which files are changed.
func (s *soak) rewrite(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	file := func(do func() error) func() {
		return func() {
			if err := do(); err != nil {
				s.wrong("%v", err)
			}
		}
	}
	fresh := s.rules + ".new"
	replace := func(text string) {
		s.file.change(creedOf(text), file(func() error {
			if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
				return err
			}
			return os.Rename(fresh, s.rules)
		}))
		s.did("file replaced")
	}
	for goesOn(stop) {
		for range 1 + random.IntN(4) {
			text := randomText(random)
			switch random.IntN(4) {
			case 0:
				part := half(random, text)
				replace(part)
				rest(stop, rand.N(time.Second))
				s.file.change(creedOf(text), file(func() error { return appendTo(s.rules, text[len(part):]) }))
				s.did("file half written")
			case 1:
				replace(text)
				rest(stop, rand.N(time.Second))
				part := half(random, text)
				s.file.change(creedOf(part), file(func() error { return os.Truncate(s.rules, int64(len(part))) }))
				s.did("file truncated")
			case 2:
				s.file.change(nil, file(func() error { return os.Remove(s.rules) }))
				s.did("file removed")
				rest(stop, rand.N(4*time.Second))
				replace(text)
			default:
				replace(text)
			}
			rest(stop, rand.N(time.Second))
		}
		rest(stop, fileWindow+rand.N(fileWindow))
	}
}

// appendTo writes at the end of a file.
func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// fail has the upstream fail in every way in turn, and answer well in between.
func (s *soak) fail(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	const page = "<html>\nUser-agent: *\nDisallow: /\n</html>\n"
	const garbage = "\x00\x01\x02\xff\xfe::::\n"
	states := []struct {
		name  string
		says  *creed // nil: what was said before holds
		state http.HandlerFunc
	}{
		{"500", nil, broken},
		{"reset", nil, closed},
		{"cut short", nil, cut},
		{"hanging", nil, s.upstream.hanging},
		{"redirected in a circle", nil, circle},
		{"404", creedOf(""), func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "none", http.StatusNotFound) }},
		{"empty", creedOf(""), plain("")},
		{"a web page", creedOf(page), plain(page)},
		{"garbage", creedOf(garbage), plain(garbage)},
	}
	for goesOn(stop) {
		state := states[s.faults%len(states)]
		s.url.change(state.says, func() {
			s.serve(func(w http.ResponseWriter, r *http.Request) {
				s.did("upstream: " + state.name)
				state.state(w, r)
			})
		})
		rest(stop, 2*time.Second+rand.N(time.Second))
		text := randomText(random)
		s.url.change(creedOf(text), func() { s.serve(slowly(text)) })
		rest(stop, time.Second)
		if s.faults++; s.faults%3 == 0 {
			rest(stop, urlWindow+rand.N(urlWindow/2))
		}
	}
}

// slowly is plain, in two parts of which the second takes its time.
func slowly(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(text[:len(text)/2]))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(rand.N(300 * time.Millisecond)):
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte(text[len(text)/2:]))
	}
}

// rest waits, or until there is to be no more.
func rest(stop <-chan struct{}, d time.Duration) {
	select {
	case <-stop:
	case <-time.After(d):
	}
}
