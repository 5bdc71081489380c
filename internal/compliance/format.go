package compliance

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// visible returns s with every character that would not be seen, or would change how others
// are, as an escape: control characters, those that turn the direction of writing, those without
// width, and bytes that are no UTF-8.
func visible(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r <= unicode.MaxASCII && hidden(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff && hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain reports whether all of s is printable ASCII, as nearly everything is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character is to be shown as an escape. Everything is that is not
// a letter, mark, number, sign or the common space: that takes all spaces that are no blanks,
// and all of Unicode's Cc, Cf, Co, Cs, Zl and Zp.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// narrow is a space between a number and its unit, at which no line breaks.
const narrow = "\u202f"

// grouped returns a number in groups of three digits, as the commands have it: 1,234,567.
func grouped(n uint64) string {
	s := number(n)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// more returns a number of things that are not shown, and nothing if there are none.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return grouped(uint64(n))
}

// compact returns a number in at most four characters and a letter: 1.2M.
func compact(n uint64) string {
	if n < 10000 {
		return number(n)
	}
	f, unit := float64(n), 0
	for f >= 999.5 && unit < 4 {
		f /= 1000
		unit++
	}
	digits := 0
	if f < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + []string{"", "k", "M", "G", "T"}[unit]
}

// percent returns a share in percent. It never says 100 % of what is not all, nor 0 % of what
// is not nothing.
func percent(share float64) string {
	switch p := share * 100; {
	case share >= 1 || share <= 0:
		return strconv.FormatFloat(min(max(p, 0), 100), 'f', 0, 64) + narrow + "%"
	case p > 99.9:
		return ">" + "99.9" + narrow + "%"
	case p < 0.1:
		return "<" + "0.1" + narrow + "%"
	case p > 99 || p < 1:
		return strconv.FormatFloat(p, 'f', 1, 64) + narrow + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + narrow + "%"
	}
}

// Fragments occur on a page by the thousand, and a template takes a microsecond or two for each
// action. So they are put together here; what comes from outside passes through text.

// text returns what comes from outside as a fragment of HTML.
func text(s string) string { return template.HTMLEscapeString(visible(s)) }

// numberView is a number as it is shown: in groups of digits and, where it is long, in short
// for where there is little room.
type numberView struct {
	Value uint64
	HTML  template.HTML
}

func newNumber(n uint64) numberView {
	if n < 100_000 {
		return numberView{n, template.HTML(grouped(n))}
	}
	return numberView{n, template.HTML(`<span class="full">` + grouped(n) + `</span><span class="short">` + compact(n) + `</span>`)}
}

// newCount returns a number and, where it is an estimate, says so.
func newCount(n uint64, about bool) template.HTML {
	if about {
		return "about " + newNumber(n).HTML
	}
	return newNumber(n).HTML
}

// writeItem writes an item of a list: how often something was, and what.
func writeItem(b *strings.Builder, n uint64, about bool, what template.HTML) {
	b.WriteString("<li><b>" + string(newCount(n, about)) + "</b> <span>" + string(what) + "</span></li>\n")
}

// newName returns what is said of who a robot is, as a link to target, if that is not empty.
func newName(r *Robot, target string) template.HTML {
	var b strings.Builder
	name := template.HTMLEscapeString(robotName(r))
	if target != "" {
		name = `<a href="` + target + `">` + name + `</a>`
	}
	b.WriteString(name)
	switch r.Standing {
	case "":
	case "verified":
		b.WriteString(` <span class="mark"><span aria-hidden="true">✓</span> verified</span>`)
	case "impostor":
		b.WriteString(` <span class="mark bad"><span aria-hidden="true">✗</span> impostor</span>`)
	default:
		b.WriteString(` <span class="mark">` + text(r.Standing) + `</span>`)
	}
	if r.Robot != "" && r.Class != "robot" && r.Class != Trapped {
		b.WriteString(` <span class="soft">` + text(r.Class) + `</span>`)
	}
	return template.HTML(b.String())
}

// newRecord returns until when a robot is banned, which record of robots.txt binds it, and whether it
// reads its pace.
func newRecord(r *Robot, now time.Time) (cell template.HTML) {
	if until := newBan(r, now); until != "" {
		cell = ` <span class="mark bad">` + until + `</span>`
	}
	if r.Record != "" {
		cell += template.HTML(` <span class="record">bound by <code>` + text(r.Record) + `</code></span>`)
	}
	if r.UnreadDelay {
		cell += ` <span class="soft">too fast, but its operator says that it reads no Crawl-delay (see unpaced)</span>`
	}
	return cell
}

// newBan returns until when a robot is banned, and nothing if it is not.
func newBan(r *Robot, now time.Time) template.HTML {
	if !r.BannedUntil.After(now) {
		return ""
	}
	from := ""
	if n := len(r.BannedAddresses); n > 1 {
		from = " from " + grouped(uint64(n)) + " addresses"
	}
	return template.HTML("banned"+from+" until ") + newStamp(r.BannedUntil, now)
}

// newCells returns the cells of a robot's row that say how many requests had each verdict
// against the rules, and how many came during a ban.
func newCells(t *Tally) template.HTML {
	var b strings.Builder
	cell := func(v Verdict, text string) {
		if n := t.Of(v).Requests; n > 0 {
			b.WriteString(`<td role="cell" class="count" data-l="` + text + `">` + string(newNumber(n).HTML) + `</td>`)
		} else {
			b.WriteString(`<td role="cell" class="count none">0</td>`)
		}
	}
	for _, v := range verdictTexts {
		cell(v.verdict, v.text)
	}
	cell(Banned, "during a ban")
	return template.HTML(b.String())
}

// newCost returns what was sent and the time it took, and nothing if they are not known.
func newCost(c *Cost) template.HTML {
	if c.Measured == 0 {
		return ""
	}
	return template.HTML(`<data value="` + number(c.Bytes) + `">` + byteText(c.Bytes) + `</data> <span class="soft">` + timeText(c.Seconds) + `</span>`)
}

// newStamp returns a time as it is read at another: in its zone, and without the year if it is the
// same. It returns nothing for the zero time.
func newStamp(t, now time.Time) template.HTML {
	t = t.In(now.Location())
	switch {
	case t.IsZero():
		return ""
	case t.Year() == now.Year():
		return stampAs(t, "2 Jan, 15:04")
	default:
		return stampAs(t, "2 Jan 2006")
	}
}

// stampAs returns a time in a layout of package time.
func stampAs(t time.Time, layout string) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `">` + t.Format(layout) + `</time>`)
}

// shortZone names the zone that a time is in: CET, or UTC+03:00 where it has no such name.
func shortZone(t time.Time) string {
	name, _ := t.Zone()
	if name == "" || strings.ContainsAny(name[:1], "+-") {
		return t.Format("UTC-07:00")
	}
	return visible(name)
}

// zoneName names the zone that a time is in: CET, UTC+01:00.
func zoneName(t time.Time) string {
	name, offset := shortZone(t), t.Format("UTC-07:00")
	if name == "UTC" || name == offset {
		return name
	}
	return name + ", " + offset
}

// newRule returns a line of robots.txt, with a link to where it is on the page, if it is there.
func newRule(line int, rule string, from *textView) template.HTML {
	var b strings.Builder
	if line > 0 {
		n := strconv.Itoa(line)
		switch id := from.anchor(line, rule); {
		case id != "":
			b.WriteString(`<a href="#` + id + `">line ` + n + `</a> `)
		case len(from.Lines) > 0:
			b.WriteString(`<span class="soft">line ` + n + ` of another text</span> `)
		default:
			b.WriteString(`line ` + n + ` `)
		}
	}
	b.WriteString(`<code>` + text(rule) + `</code>`)
	return template.HTML(b.String())
}

// writeEvidence writes the row of a request that was disobedient.
func writeEvidence(b *strings.Builder, e *Evidence, first bool, from *textView, now time.Time) {
	// To the second, as an operator looks it up in a log.
	b.WriteString("<tr><td>" + string(stampAs(e.Time.In(now.Location()), "2 Jan 2006, 15:04:05")))
	if first {
		b.WriteString(` <span class="soft">the first</span>`)
	}
	b.WriteString("</td><td>" + text(e.Method) + " <code>" + text(e.Path) + "</code></td><td>" + known(e.Status) +
		"</td><td>" + verdictText(e.Verdict) + "</td><td>")
	if id := from.anchor(e.Line, e.Rule); id != "" {
		b.WriteString(`<a href="#` + id + `">` + known(e.Line) + "</a>")
	} else {
		b.WriteString(known(e.Line))
	}
	b.WriteString("</td><td>" + text(e.Address) + "</td></tr>\n")
}
