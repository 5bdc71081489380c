package compliance

import "strings"

// Advice is something that the owner of a site may want to do, and the line that does it. Nothing is
// advised that would refuse a person, or take anything from a robot that obeys.
type Advice struct {
	Site string `json:"site"`
	Text string `json:"text"`
	// File is where the line belongs: Caddyfile, in the block of robots, or robots.txt.
	File string `json:"file"`
	Line string `json:"line"`

	weight uint64 // of several of one kind, the heaviest is given
}

// maxAdvice is how many sentences are given.
const maxAdvice = 5

// advisers look at a robot on a site, each for one thing. They return no line where there is nothing to
// say. Those that come first are given first.
var advisers = []func(s *Site, r *Robot) Advice{
	// A Crawl-delay that its operator says it does not read, so that refusing it slows nothing down.
	func(_ *Site, r *Robot) Advice {
		if !r.UnreadDelay || !isToken(r.Robot) {
			return Advice{}
		}
		return Advice{
			Text: r.Robot + " came too fast " + times(r.Of(TooFast).Requests) + ", and its operator says that it does not read Crawl-delay. Apply only the paths to it:",
			File: "Caddyfile", Line: "unpaced " + r.Robot, weight: r.Of(TooFast).Requests,
		}
	},
	// A service, such as a monitor, that rules for robots hold.
	func(_ *Site, r *Robot) Advice {
		if r.Class != "service" || r.Disobedient == 0 || !isToken(r.Robot) {
			return Advice{}
		}
		return Advice{
			Text: r.Robot + " is a service: it works for somebody and does not crawl. The record \"" + r.Record + "\" of robots.txt binds it, and it broke the rules " + times(r.Disobedient) + ". If you need it, exempt it:",
			File: "Caddyfile", Line: `exempt "` + r.Robot + `"`, weight: r.Disobedient,
		}
	},
	// An impostor that was served.
	func(_ *Site, r *Robot) Advice {
		served := r.Requests - r.Refused
		if r.Standing != "impostor" || served == 0 || !isToken(r.Robot) {
			return Advice{}
		}
		return Advice{
			Text: "Another client came under the name " + r.Robot + ", and was served " + times(served) + ". Refuse clients with a false name:",
			File: "Caddyfile", Line: "impostors refuse", weight: served,
		}
	},
	// A robot that never read robots.txt and breaks it.
	func(_ *Site, r *Robot) Advice {
		if r.Class != "robot" || r.Standing == "impostor" || r.Fetches > 0 || r.Disobedient < 10 || !r.BannedUntil.IsZero() || !isToken(r.Robot) {
			return Advice{}
		}
		return Advice{
			Text: r.Robot + " never read robots.txt, and broke its rules " + times(r.Disobedient) + ". Refuse everything to such robots for a time:",
			File: "Caddyfile", Line: "ban 10 in 1h for 24h", weight: r.Disobedient,
		}
	},
	// A robot that costs more than a third of all that robots cost, has a record of its own, and would read
	// a pace in it. A pace for all would hold search engines that read none.
	func(s *Site, r *Robot) Advice {
		if r.Class != "robot" || r.Measured < 100 || r.Seconds < 60 || 3*r.Seconds < s.Seconds || r.readsNoDelay || r.Of(TooFast).Requests > 0 ||
			!isToken(r.Robot) || !isToken(r.Record) {
			return Advice{}
		}
		return Advice{
			Text: r.Robot + " took " + timeText(r.Seconds) + " of the back end and was sent " + byteText(r.Bytes) + ", " + percent(r.Seconds/s.Seconds) + " of the time that robots cost. Give it a pace, in the record for " + r.Record + ":",
			File: "robots.txt", Line: "Crawl-delay: 2", weight: uint64(r.Seconds),
		}
	},
}

// Advise fills in what the owner may do: at most five sentences, of each kind that of the site or robot for
// which most speaks.
func (r *Report) Advise() {
	r.Advice = []Advice{}
	give := func(a Advice) {
		if a.Line != "" && len(r.Advice) < maxAdvice {
			r.Advice = append(r.Advice, a)
		}
	}
	bySite := func(look func(*Site) Advice) (best Advice) {
		for i := range r.Sites {
			if a := look(&r.Sites[i]); a.Line != "" && a.weight >= best.weight {
				best = a
				best.Site = r.Sites[i].Site
			}
		}
		return best
	}
	give(bySite(adviseHost))
	for _, look := range advisers {
		var best Advice
		for i := range r.Sites {
			s := &r.Sites[i]
			for k := range s.Robots {
				if a := look(s, &s.Robots[k]); a.Line != "" && a.weight > best.weight {
					best = a
					best.Site = s.Site
				}
			}
		}
		give(best)
	}
	give(bySite(adviseUnmatched))
}

// isToken reports whether a robot's name can stand in a line that an owner copies: names come from
// outside.
func isToken(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == "" && name[0] != '-'
}

// times says how often something was.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

// adviceView is a sentence on the page.
type adviceView struct {
	Site, Text, File, Line string
}

// newAdvice returns what to do, as the page says it; sites are named where there are several.
func newAdvice(r *Report) (views []adviceView) {
	for _, a := range r.Advice {
		v := adviceView{Text: a.Text, File: a.File, Line: a.Line}
		if len(r.Sites) > 1 {
			v.Site = siteName(a.Site)
		}
		views = append(views, v)
	}
	return views
}
