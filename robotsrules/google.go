package robotsrules

import (
	"fmt"
	"strings"
)

var findGoogle = define("google", Info, "Google's robots read the file differently from others: {field}",
	"nothing needs doing if both readings suit you; else write these lines so that there is one")

// google tells, in one note, of lines that Google's parser documents another reading of
// (developers.google.com/crawling/docs/robots-txt/robots-txt-spec, of October 2026, and
// github.com/google/robotstxt), as far as its robots come to them.
func (l *linter) google() {
	if l.file.Dialect != RFC9309 {
		return
	}
	var notes []string
	line := 0
	note := func(at int, format string, args ...any) {
		if len(notes) >= maxGoogle {
			return
		}
		if line == 0 {
			line = at
		}
		notes = append(notes, fmt.Sprintf(format, args...))
	}
	for i, g := range l.file.Groups {
		for _, t := range g.Tokens {
			odd, _ := oddName(t.Value)
			if word := googleToken(t.Text()); word != t.Value && isOfGoogle(word) && odd == nil {
				note(t.Line, `"%s" in line %d is "%s" for them`, excerpt(t.Value), t.Line, word)
			}
		}
		if !namesGoogle(g) {
			continue
		}
		if len(g.Rules) == 0 && g.hasBody() && i+1 < len(l.file.Groups) && len(l.file.Groups[i+1].Rules) > 0 {
			next := l.file.Groups[i+1]
			note(g.Line, `the record of line %d has no Allow or Disallow and goes on in line %d, so that the rules from line %d on hold for "%s" too`,
				g.Line, next.Line, next.Rules[0].Line, excerpt(g.Tokens[0].Value))
		}
		for _, r := range g.Rules {
			if folder := googleFolder(r); folder != "" && !l.binding(g.Tokens[0]).Decide(folder).Allowed() {
				note(r.Line, `"%s" in line %d allows %s too`, excerpt(r.Text), r.Line, excerpt(folder))
			}
		}
	}
	if line > 0 {
		l.add(line, findGoogle, detail{field: strings.Join(notes, "; ")})
	}
}

// maxGoogle is how many lines the note names.
const maxGoogle = 5

// googleToken returns what Google takes for the token: the letters, _ and - at its beginning.
func googleToken(value string) string {
	return value[:len(value)-len(strings.TrimLeft(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"))]
}

// isOfGoogle reports whether a token is that of one of Google's robots.
func isOfGoogle(token string) bool { return strings.Contains(fold(token), "google") }

// namesGoogle reports whether Google's robots look at the record.
func namesGoogle(g *Group) bool {
	for _, t := range g.Tokens {
		if t.Value == "*" || isOfGoogle(t.Value) {
			return true
		}
	}
	return false
}

// googleFolder returns the folder that an Allow of its index page opens too, "" if it is none.
func googleFolder(r *Rule) string {
	slash := strings.LastIndexByte(r.Pattern(), '/')
	if r.Kind != Allow || slash < 0 || strings.ContainsAny(r.Pattern()[:slash], "*") || !strings.HasPrefix(r.Pattern()[slash:], "/index.htm") {
		return ""
	}
	return r.Pattern()[:slash+1]
}
