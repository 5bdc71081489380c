package caddymodule

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// caddyDirectives are Caddy's own directives whose names are not those of HTTP handlers. Caddy does not
// tell a module which directives there are.
var caddyDirectives = []string{
	"abort", "acme_server", "basic_auth", "basicauth", "bind", "copy_response", "copy_response_headers", "encode", "error",
	"file_server", "forward_auth", "fs", "handle", "handle_errors", "handle_path", "header", "import", "intercept", "invoke", "log",
	"log_append", "log_level", "log_name", "log_skip", "map", "method", "metrics", "php_fastcgi", "push", "redir", "request_body",
	"request_header", "respond", "reverse_proxy", "rewrite", "root", "route", "skip_log", "templates", "timeouts", "tls", "tracing",
	"try_files", "uri", "vars",
}

// isDirective reports whether a word is a directive of a site, or defines a matcher. Directives of other
// plugins are mostly named as their handlers are.
func isDirective(word string) bool {
	if strings.HasPrefix(word, "@") || slices.Contains(caddyDirectives, word) {
		return true
	}
	_, err := caddy.GetModule("http.handlers." + word)
	return err == nil
}

// isRobotsTxtLine reports whether a word begins a line of robots.txt.
func isRobotsTxtLine(word string) bool {
	field, isField := strings.CutSuffix(strings.ToLower(word), ":")
	return isField && field != "" || slices.Contains([]string{"user-agent", "disallow", "allow", "crawl-delay", "sitemap"}, field)
}

// unrecognized is the error for an option that is none of these in the block of a directive or of
// another option. It says what is wrong where that can be seen: a } is missing, it is a line of
// robots.txt, or it is misspelt.
func unrecognized(d *caddyfile.Dispenser, block, name string, known ...string) error {
	if isDirective(name) || slices.Contains(optionNames, name) {
		return missingBrace(d, block, name)
	}
	if isRobotsTxtLine(name) {
		return d.Errf("%q begins a line of robots.txt, it is no option of %s; write it into robots.txt, or below source text <<ROBOTS", name, block)
	}
	list := "the options are "
	if meant := robotsrules.Meant(name, known); meant != "" {
		list = "did you mean " + meant + "? The options are "
	}
	return d.Errf("unrecognized %s option %q; %s%s", block, name, list, strings.Join(known, ", "))
}

// missingBrace is the error for a word that stands in a block and belongs outside of it.
func missingBrace(d *caddyfile.Dispenser, block, name string) error {
	start := *d
	start.Reset()
	start.Next()
	return d.Errf("%q is no option of %s, but belongs outside of its block: a } is missing above this line (%s begins on line %d)",
		name, block, start.Val(), start.Line())
}
