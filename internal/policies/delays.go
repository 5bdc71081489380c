package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// UnreadDelay is a Crawl-delay, and the robots of the catalogue that it holds although their
// operators say that they do not read it.
type UnreadDelay struct {
	Delay  robotsrules.CrawlDelay
	Robots []string // search engines first
}

// UnreadDelayCode is the code of its Diagnostic.
const UnreadDelayCode = "unread-delay"

// maxUnread is how many robots one message names.
const maxUnread = 5

// UnreadDelays returns the delays that hold robots which do not read them, by line. Robots that
// fetch for a person who asks do not count, nor those whom the options hold to no pace.
func UnreadDelays(compiled *robotsrules.Policy, options *enforce.Options) []UnreadDelay {
	var all []UnreadDelay
	for _, c := range crawlersWithoutDelay {
		for _, token := range c.Tokens {
			binding := compiled.Bind(robotsrules.Robot{UserAgent: token, Name: token, Products: []string{token}})
			delay := longestDelay(binding)
			if delay.Delay == 0 || !options.Paces(&c, binding.Token()) {
				continue
			}
			i := slices.IndexFunc(all, func(u UnreadDelay) bool { return u.Delay.Line == delay.Line })
			if i < 0 {
				i, all = len(all), append(all, UnreadDelay{Delay: delay})
			}
			if !slices.Contains(all[i].Robots, c.Name) {
				all[i].Robots = append(all[i].Robots, token)
			}
		}
	}
	slices.SortFunc(all, func(a, b UnreadDelay) int { return cmp.Compare(a.Delay.Line, b.Delay.Line) })
	return all
}

// crawlersWithoutDelay are those whose operators say that they read no Crawl-delay, search engines
// first.
var crawlersWithoutDelay = func() []crawler.Crawler {
	all := slices.DeleteFunc(crawler.Catalogue(), func(c crawler.Crawler) bool { return c.CrawlDelay != crawler.No || c.ByPerson })
	slices.SortStableFunc(all, func(a, b crawler.Crawler) int {
		return cmp.Compare(slices.Index(crawler.Purposes(), a.Purpose), slices.Index(crawler.Purposes(), b.Purpose))
	})
	return all
}()

// longestDelay returns the Crawl-delay of a record that asks for most, the zero value if none does.
func longestDelay(binding *robotsrules.Binding) (longest robotsrules.CrawlDelay) {
	for _, group := range binding.Groups() {
		for _, c := range group.CrawlDelays() {
			if c.Delay > longest.Delay {
				longest = c
			}
		}
	}
	return longest
}

// Diagnostic says of whom the delay is not read, and what to write instead.
func (u *UnreadDelay) Diagnostic() robotsrules.Diagnostic {
	shown := u.Robots[:min(len(u.Robots), maxUnread)]
	names := strings.Join(shown, ", ")
	if more := len(u.Robots) - len(shown); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return robotsrules.Diagnostic{
		Code: UnreadDelayCode, Line: u.Delay.Line, Severity: robotsrules.Warning,
		Message: fmt.Sprintf("%q holds robots whose operators say that they do not read it, and refuses them with 429: %s", u.Delay.Text, names),
		Instead: fmt.Sprintf(`write "unpaced %s" in the robots directive to hold them to the paths only, or give them a record of their own, with the same paths and without a pace`, strings.Join(shown, " ")),
	}
}
