package compliance

import (
	"html/template"
	"strconv"
	"strings"
)

// shownLine is how many bytes of a line are shown.
const shownLine = 300

// line is a line of robots.txt, its number and its text.
type line struct {
	number int32
	rule   string
}

// textView is the text of a robots.txt, with what was disobeyed where.
type textView struct {
	Version string
	Lines   []lineView
	Left    string // how many lines are not shown

	prefix string           // of anchors
	rules  map[int32]string // of the lines that are shown
}

// lineView is a line of robots.txt and by how many requests of how many robots it was disobeyed.
type lineView struct {
	ID     string
	Number int
	Text   string
	Count  template.HTML // empty: it was not
	Robots numberView
}

// newText returns the text of a site, whose lines have anchors that begin with prefix. It takes what it
// shows from left; when that is used up, it shows only lines that were disobeyed.
func newText(s *Site, prefix string, left *room) textView {
	v := textView{Version: visible(s.Version), prefix: prefix, rules: make(map[int32]string)}
	counts := countLines(s)
	hidden := 0
	for i, written := range splitLines(s.RobotsTxt) {
		at := line{lineNumber(i + 1), ruleOf(written)}
		c, disobeyed := counts[at]
		if left.text <= 0 && !disobeyed {
			hidden++
			continue
		}
		l := lineView{ID: v.id(i + 1), Number: i + 1, Text: visible(strings.ReplaceAll(cut(written, shownLine), "\t", "    "))}
		if disobeyed {
			l.Count, l.Robots = newCount(c.requests, c.about), newNumber(c.robots)
		}
		v.rules[at.number] = at.rule
		v.Lines = append(v.Lines, l)
		left.text -= 60 + len(l.Text)
	}
	v.Left = more(hidden)
	return v
}

// lineCount is by how many requests of how many robots a line was disobeyed.
type lineCount struct {
	requests, robots uint64
	about            bool
}

// countLines adds up the lines that a site's robots disobeyed.
func countLines(s *Site) map[line]lineCount {
	counts := make(map[line]lineCount)
	for i := range s.Robots {
		for _, l := range s.Robots[i].Lines {
			at := line{lineNumber(l.Line), l.Rule}
			c := counts[at]
			counts[at] = lineCount{c.requests + l.Requests, c.robots + 1, c.about || l.About}
		}
	}
	return counts
}

// anchor returns where a line is on the page, or nothing if that is not what stands there.
func (v *textView) anchor(number int, rule string) string {
	if shown, ok := v.rules[lineNumber(number)]; !ok || shown != rule {
		return ""
	}
	return v.id(number)
}

func (v *textView) id(number int) string { return v.prefix + "L" + strconv.Itoa(number) }

// ruleOf returns a line as a ledger keeps it: without comment and outer blanks, and cut.
func ruleOf(text string) string {
	text, _, _ = strings.Cut(text, "#")
	return cut(strings.Trim(text, " \t"), maxRule)
}

// splitLines returns the lines of a text that LF, CR or CRLF end.
func splitLines(text string) []string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
