package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// question is what the flags of check and explain say: who asks, and by which rules.
type question struct {
	reader
	place, userAgent string
}

// addFlags adds the flags that say it.
func (q *question) addFlags(cmd *cobra.Command) {
	addPlaceFlag(cmd, &q.place)
	cmd.Flags().StringVar(&q.userAgent, "user-agent", "", "a robot's `name`, or a whole User-Agent header")
	q.reader.addFlags(cmd)
}

// read reads the rules: without a place those of the site that an address is on.
func (q *question) read(cmd *cobra.Command, address string) (*policies.Rules, error) {
	if !cmd.Flags().Changed("user-agent") {
		return nil, errors.New("no --user-agent; write the name of a robot, such as GPTBot, or a whole User-Agent header")
	}
	rules, err := q.reader.read(cmd, cmp.Or(q.place, siteRules(address)))
	if err == nil {
		q.hint(cmd, rules)
	}
	return rules, err
}

// hint asks whether another robot is meant, where neither robots.txt nor the catalogue has the
// name.
func (q *question) hint(cmd *cobra.Command, rules *policies.Rules) {
	if _, known := crawler.Find(q.userAgent); known || !isName(q.userAgent) || rules.Compiled.Named(q.userAgent) != nil {
		return
	}
	names := policies.RobotNames()
	for _, group := range rules.File.Groups {
		for _, token := range group.Tokens {
			names = append(names, token.Value)
		}
	}
	if closest := robotsrules.Closest(q.userAgent, names, 1); closest != "" && !strings.EqualFold(closest, q.userAgent) {
		cmd.PrintErrf("no robot is known as %s; did you mean %s?\n", printable(q.userAgent), printable(closest))
	}
}

// isName reports whether this is not a header that anybody sends, but the name of a robot: a word
// without blank and slash.
func isName(userAgent string) bool {
	return userAgent != "" && !strings.ContainsAny(userAgent, " \t/")
}

// identify returns who sends this User-Agent.
func identify(userAgent string) *crawler.Identity {
	who := crawler.Identify(userAgent)
	if isName(userAgent) {
		who = crawler.AsRobot(userAgent)
	}
	return &who
}

// judge returns what the rules tell the client about a request, whatever its pace, as the directive
// without options has it.
func judge(rules *policies.Rules, r *enforce.Request, who *crawler.Identity) enforce.Verdict {
	return new(enforce.Engine).ByRules(&rules.Rules, r, who)
}

// requestFor returns the request that a client makes for this URL, or path. A fragment is not sent.
func requestFor(address string) (r enforce.Request, err error) {
	target := address
	if _, rest, ok := strings.Cut(address, "://"); ok && !strings.HasPrefix(address, "/") {
		end := strings.IndexAny(rest+"/", "/?#")
		authority := rest[:end]
		r.Host = policies.Host(authority[strings.LastIndexByte(authority, '@')+1:])
		target = rest[end:]
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
	}
	if !strings.HasPrefix(target, "/") {
		return r, fmt.Errorf("%q is neither a URL nor a path; write one such as https://example.com/page or /page", address)
	}
	target, _, _ = strings.Cut(target, "#")
	r.Method = http.MethodGet
	r.SetTarget(target) // one that no server would pass on is judged as it stands
	return r, nil
}

// finding is a verdict as commands print it: one JSON object in a line.
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

func newFinding(v *enforce.Verdict, address, userAgent string) finding {
	binding := v.Decision.Binding
	f := finding{
		URL: address, UserAgent: userAgent, Robot: v.Who.Name, Class: v.Who.Class.String(), Verdict: v.Kind.String(),
		Record: binding.Token(), RecordLine: binding.Line(), Rule: v.Rule, Line: v.Line,
		Comments: append([]string{}, binding.Comments()...),
	}
	for _, group := range binding.Groups() {
		for _, c := range group.CrawlDelays() {
			if seconds := c.Delay.Seconds(); f.CrawlDelay == nil || seconds > *f.CrawlDelay {
				f.CrawlDelay = &seconds
			}
		}
		for _, r := range group.RequestRates() {
			if _, value, _ := strings.Cut(r.Text, ":"); f.RequestRate == nil {
				value = strings.TrimSpace(value)
				f.RequestRate = &value
			}
		}
	}
	return f
}

// reason says in a few words what decided.
func reason(v *enforce.Verdict) string {
	binding := v.Decision.Binding
	switch {
	case v.Denied != "":
		return v.Denied
	case v.Line > 0:
		return fmt.Sprintf("line %d %q in the record for %q", v.Line, v.Rule, binding.Token())
	case v.Who.Class == crawler.Browser:
		return "a browser is bound by no record"
	case binding == nil && v.Who.Class == crawler.App:
		return "no record names this app or library"
	case binding == nil && v.Who.Class == crawler.Service:
		return "no record names this service"
	}
	_, why, _ := strings.Cut(v.Decision.String(), ": ")
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
