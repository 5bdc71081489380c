package caddymodule

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// examiner judges without a server: it is a handler with some of the options, to which
// rules are handed that were loaded in some other way.
type examiner struct{ h *Handler }

// newExaminer makes the handler of these options ready to judge.
func newExaminer(h *Handler) (*examiner, error) {
	var err error
	if h.settings, err = h.readOptions(); err != nil {
		return nil, err
	}
	h.shared = &shared{
		crawlers: crawler.NewCache(maxUserAgents),
		memory:   ratelimit.NewMemory(ratelimit.DefaultMaxKeys),
		library:  newLibrary(),
	}
	h.limiter = h.shared.memory
	h.now = time.Now
	return &examiner{h}, nil
}

// rules compiles a document.
func (e *examiner) rules(doc document) *ruleset {
	rules, _ := e.h.shared.library.compile(doc.text, e.h.settings.deniedBy(&doc), e.h.settings)
	return rules
}

// isName tells whether this is not a header that anybody sends, but the name of a robot: a word
// without blank and slash.
func isName(userAgent string) bool {
	return userAgent != "" && !strings.ContainsAny(userAgent, " \t/")
}

// who says who sends this User-Agent.
func (e *examiner) who(userAgent string) *crawler.Identity {
	if isName(userAgent) {
		robot := crawler.AsRobot(userAgent)
		return &robot
	}
	return e.h.shared.crawlers.Identify(userAgent)
}

// judge says whether the client may fetch what was asked for, whatever its pace.
func (e *examiner) judge(rules *ruleset, who *crawler.Identity, a *asked) judgement {
	j := judgement{who: who}
	if !e.h.bindable(who) {
		return j
	}
	binding := e.h.binding(rules, &j)
	if a.path == robotsPath {
		j.decision = binding.Decide(robotsPath)
		return j
	}
	if !e.h.allows(rules, binding, a, &j) {
		j.verdict = Disallowed
	}
	if rule := j.decision.Rule; rule != nil {
		j.line, j.rule = rule.Line, rule.Text // also of one that allows
	}
	return j
}

// target returns what a client asks for with this URL, or path. A fragment it keeps to
// itself.
func target(address string) (asked, error) {
	text := address
	if _, rest, ok := strings.Cut(address, "://"); ok && !strings.HasPrefix(address, "/") {
		text = ""
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			text = rest[i:]
		}
		if !strings.HasPrefix(text, "/") {
			text = "/" + text
		}
	}
	if !strings.HasPrefix(text, "/") {
		return asked{}, fmt.Errorf("%q is neither a URL nor a path; write one such as https://example.com/page or /page", address)
	}
	text, _, _ = strings.Cut(text, "#")
	a, _ := targetOf(text)
	return a, nil
}

// targetOf reads the target of a request line that begins with a slash. It tells whether a
// server would: an octet that is not encoded as it must be is refused (400) before anything
// else looks at it.
func targetOf(text string) (a asked, served bool) {
	path, query, _ := strings.Cut(text, "?")
	a = asked{method: http.MethodGet, target: text, path: path, query: query}
	if decoded, err := url.PathUnescape(path); err == nil {
		a.path, served = understood(decoded), true
	}
	return a, served
}

// finding is a judgement as commands print it: one JSON object in a line.
type finding struct {
	URL         string   `json:"url"`
	UserAgent   string   `json:"user_agent"`
	Robot       string   `json:"robot"`
	Class       string   `json:"class"`
	Verdict     string   `json:"verdict"`
	Record      string   `json:"record"`
	RecordLine  int      `json:"record_line"`
	Rule        string   `json:"rule"`
	Line        int      `json:"line"`
	CrawlDelay  *float64 `json:"crawl_delay"`  // seconds
	RequestRate *string  `json:"request_rate"` // as written
	Comments    []string `json:"comments"`
}

func (j judgement) finding(address, userAgent string) finding {
	binding := j.decision.Binding
	f := finding{
		URL: address, UserAgent: userAgent, Robot: j.who.Name, Class: j.who.Class.String(), Verdict: j.verdict.String(),
		Record: binding.Token(), RecordLine: binding.Line(), Rule: j.rule, Line: j.line,
		Comments: slices.Clone(binding.Comments()),
	}
	if f.Comments == nil {
		f.Comments = []string{}
	}
	for _, group := range binding.Groups() {
		for _, c := range group.CrawlDelays {
			if seconds := c.Delay.Seconds(); f.CrawlDelay == nil || seconds > *f.CrawlDelay {
				f.CrawlDelay = &seconds
			}
		}
		for _, r := range group.RequestRates {
			if _, value, _ := strings.Cut(r.Text, ":"); f.RequestRate == nil {
				value = strings.TrimSpace(value)
				f.RequestRate = &value
			}
		}
	}
	return f
}

// because says in a few words what decided.
func (j *judgement) because() string {
	binding := j.decision.Binding
	switch {
	case j.denied != "":
		return j.denied
	case j.line > 0:
		return fmt.Sprintf("line %d %q in the record for %q", j.line, j.rule, binding.Token())
	case j.who.Class == crawler.Browser:
		return "a browser is bound by no record"
	case binding == nil && j.who.Class == crawler.App:
		return "no record names this app or library"
	}
	_, why, _ := strings.Cut(j.decision.String(), ": ")
	return why
}

// printable returns text from outside so that a terminal shows it and does nothing else.
func printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) && utf8.ValidString(text) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
