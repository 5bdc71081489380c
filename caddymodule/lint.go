package caddymodule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// diagnostics returns what is wrong with the file, by line: what parsing found, what was
// noted before, and the User-agent lines that are well written but do not bind whom their
// author means.
func diagnostics(file *robotsrules.File, notes []robotsrules.Diagnostic) []robotsrules.Diagnostic {
	all := slices.Concat(notes, file.Diagnostics)
	told := make(map[string]bool)
	for _, group := range file.Groups {
		for _, token := range group.Tokens {
			what, instead := crawler.TokenAdvice(token.Value)
			name := strings.ToLower(token.Value)
			if what == "" || told[name] || len(told) == maxTokenAdvice {
				continue
			}
			told[name] = true
			all = append(all, robotsrules.Diagnostic{
				Line: token.Line, Severity: robotsrules.Warning, Message: what, Instead: instead,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b robotsrules.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// maxTokenAdvice bounds how many tokens of one file are told of.
const maxTokenAdvice = 100
