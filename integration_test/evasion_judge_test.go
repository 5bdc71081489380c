package integration

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pageIn returns the path of the page that was served, "" if none was.
func (a answer) pageIn() string {
	if a.status != http.StatusOK {
		return ""
	}
	if a.body == evadedRules {
		return "/robots.txt"
	}
	page, ok := strings.CutPrefix(a.body, marker)
	if !ok {
		return ""
	}
	return page
}

// decodedOnce returns a target's path and query with each escape decoded but that of a
// slash, as robots.txt compares it, and without the scheme and host of an absolute form.
func decodedOnce(target string) string {
	if !strings.HasPrefix(target, "/") {
		if u, err := url.Parse(target); err == nil {
			target = "/" + strings.TrimPrefix(u.RequestURI(), "/")
		}
	}
	target, _, _ = strings.Cut(target, "#")
	return decoded(target)
}

// decoded returns text with each escape decoded but that of a slash.
func decoded(text string) string {
	var all strings.Builder
	for _, token := range tokens(text) {
		if c := byteOf(token); c != '/' {
			token = string([]byte{c})
		}
		all.WriteString(token)
	}
	return all.String()
}

// asAFileServer returns the path that a file server finds for a target.
func asAFileServer(target string) string {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return ""
	}
	clean := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// outcome is what became of a spelling.
type outcome struct {
	served  bool // to the person
	refused bool // to the robot
	limited bool // the robot was served a page that is disallowed, by a known limit
}

// judge asks for a spelling as a person and as a robot, and holds what the robot is
// answered against what the person was served.
func (site *evadedSite) judge(t *testing.T, w *wire, s spelling) (o outcome) {
	target := strings.NewReplacer("{host}", site.host, "{HOST}", strings.ToUpper(site.host)).Replace(s.target)
	person, err := w.ask(site.host, target, chrome)
	robot, err2 := w.ask(site.host, target, bingbot)
	for _, err := range []error{err, err2} {
		if err != nil && !errors.Is(err, errNoAnswer) {
			t.Errorf("%s %q, %s: %v", site.host, target, s.kinds, err)
		}
	}
	complain := func(what string) {
		t.Errorf("%s %q, %s: %s: a person is served %q with %d, a robot %q with %d",
			site.host, target, s.kinds, what, person.pageIn(), person.status, robot.pageIn(), robot.status)
	}
	if person.status == http.StatusForbidden {
		complain("a person is refused")
	}
	served, refused := person.pageIn(), robot.status == http.StatusForbidden
	o.served, o.refused = served != "", refused
	switch {
	case served == "/robots.txt" && robot.pageIn() != served:
		if !disallows(decodedOnce(target)) {
			complain("the rules are not told")
		}
	case disallows(served) && !refused:
		_, query := split(target)
		switch {
		case strings.HasSuffix(served, ".pdf") && query != "": // "$" is the end of path and query
		case strings.ContainsAny(decoded(target), site.limits):
			o.limited = true
		default:
			complain("evaded")
		}
	case refused && !disallows(served) && served != "":
		if !slices.ContainsFunc([]string{decodedOnce(target), asAFileServer(target), likeURL(target), likeReference(target)}, disallows) {
			complain("refused although allowed")
		}
	case !refused && err2 == nil && (robot.status != person.status || robot.pageIn() != served):
		complain("neither refused nor served the same")
	}
	return o
}

// outcomes counts what became of the spellings of each kind. It is safe for concurrent use.
type outcomes struct {
	mu                       sync.Mutex
	all                      int
	served, refused, limited map[string]int // by kind
}

func newOutcomes() *outcomes {
	return &outcomes{served: map[string]int{}, refused: map[string]int{}, limited: map[string]int{}}
}

func (y *outcomes) add(s spelling, o outcome) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.all++
	for _, kind := range s.kinds {
		if o.served {
			y.served[kind]++
		}
		if o.refused {
			y.refused[kind]++
		}
		if o.limited {
			y.limited[kind]++
		}
	}
}

// check fails the test unless spellings of every kind were served and others refused, and
// at least so many were sent: else it would have shown nothing.
func (y *outcomes) check(t *testing.T, least int) {
	t.Helper()
	for _, k := range kinds {
		if y.served[k.name] == 0 || y.refused[k.name] == 0 {
			t.Errorf("%s: %d spellings were served to a person and %d refused to a robot, want some of each",
				k.name, y.served[k.name], y.refused[k.name])
		}
	}
	if y.all < least {
		t.Errorf("%d spellings were sent, want at least %d", y.all, least)
	}
	t.Logf("%d spellings; served %v, refused %v, by a known limit %v", y.all, y.served, y.refused, y.limited)
}
