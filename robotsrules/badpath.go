package robotsrules

import (
	"strings"
	"unicode/utf8"
)

// pathMistakes are what is told of the path in an Allow, Disallow or Noindex line: the first that
// is found. Each reports whether it is there, and what to write instead.
var pathMistakes = []struct {
	finding *finding
	find    func(path string, canMatch bool) (fix string, found bool)
}{
	{findPaths, severalPaths},
	{findQuotedPath, quotedPath},
	{findDiskPath, diskPath},
	{findBlank, blankPath},
	{findExpression, expression},
	{findBackslash, backslashes},
	{findSiteURL, siteURL},
	{findURL, addressPath},
	{findNoPath, noPath},
	{findNoSlash, noSlash},
	{findNotUTF8, func(path string, _ bool) (string, bool) { return "", !utf8.ValidString(path) }},
	{findRawLetters, rawLetters},
}

// checkPattern tells what is wrong with the path of a line.
func (p *parser) checkPattern(l *line) {
	stars := readingOf(p.file.Dialect, p.group).stars()
	if l.value == "" || l.told {
		return
	}
	can := canMatch(l.value, stars)
	if can && l.traits&oddPathTrait == 0 && !strings.HasPrefix(l.value, "/var/www/") && !strings.HasPrefix(l.value, "/home/") {
		return
	}
	d := detail{field: l.field.String(), text: l.value}
	if !can && l.value[0] == '*' {
		d.fix = p.file.Dialect.String()
		p.report(l.number, findStar, d)
		return
	}
	for _, m := range pathMistakes {
		fix, found := m.find(l.value, can)
		if found {
			switch d.fix = fix; {
			case m.finding == findPaths:
				d.fix = linesFor(d.field, strings.Split(fix, "\n"))
			case m.finding == findDiskPath && fix == "":
				d.fix = "write the path as the address of a page has it"
			case m.finding == findDiskPath || m.finding == findBlank:
				d.fix = l.with(fix)
			}
			p.report(l.number, m.finding, d)
			return
		}
	}
}

// severalPaths finds "/a /b" and "/a, /b". The fix has a line for each.
func severalPaths(path string, _ bool) (fix string, found bool) {
	parts := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(blanks+",;|", r) })
	var paths []string
	for _, part := range parts {
		if part[0] == '/' {
			paths = append(paths, part)
		}
	}
	return strings.Join(paths, "\n"), len(paths) > 1
}

func quotedPath(path string, _ bool) (fix string, found bool) {
	if r, _ := utf8.DecodeRuneInString(path); !strings.ContainsRune(quotes, r) {
		return "", false
	}
	path = trim(strings.Trim(path, quotes))
	if path != "" && !canMatch(path, true) {
		path = "/" + path
	}
	return path, true
}

// diskPath finds the path of a file where a web server keeps its pages. The fix is what follows the
// folder that usually is the site's.
func diskPath(path string, _ bool) (fix string, found bool) {
	slashed := strings.ReplaceAll(path, `\`, "/")
	isDrive := len(path) > 2 && path[1] == ':' && slashed[2] == '/' && lower[path[0]] >= 'a' && lower[path[0]] <= 'z'
	if !isDrive && !strings.HasPrefix(path, `\\`) && !strings.HasPrefix(path, "/var/www/") && !strings.HasPrefix(path, "/home/") {
		return "", false
	}
	for _, root := range [...]string{"/wwwroot/", "/htdocs/", "/public_html/", "/var/www/html/"} {
		if _, below, ok := strings.Cut(slashed, root); ok {
			return "/" + below, true
		}
	}
	return "", !strings.HasPrefix(path, "/home/")
}

// blankPath finds a blank that belongs to no name, as it stands beside a slash or a star.
func blankPath(path string, _ bool) (fix string, found bool) {
	var b []byte
	for i := range len(path) {
		beside := i > 0 && i+1 < len(path) && (strings.IndexByte(blanks+"/*", path[i-1]) >= 0 || strings.IndexByte(blanks+"/*", path[i+1]) >= 0)
		if strings.IndexByte(blanks, path[i]) >= 0 && beside {
			found = true
			continue
		}
		b = append(b, path[i])
	}
	return string(b), found
}

// inExpressions are what regular expressions have and paths have not.
var inExpressions = [...]string{
	`\.`, `\/`, `\d+`, `\d*`, `\d{`, `\d/`, `\d$`, `\w+`, `\w*`, `\s+`, `\s*`, `\?`, `\-`, `\+`, "[0-9", "[a-z", "[A-Z", "[^", "(.*", ".*)", "(.+", ".+", "(?", "]+", "]*", ")+",
}

func expression(path string, _ bool) (fix string, found bool) {
	if path[0] == '^' {
		return "", true
	}
	for _, s := range inExpressions {
		if strings.Contains(path, s) {
			return "", true
		}
	}
	_, rest, _ := strings.Cut(path, "(")
	_, rest, either := strings.Cut(rest, "|")
	_, braced, _ := strings.Cut(path, "{")
	_, braced, each := strings.Cut(braced, ",")
	return "", either && strings.Contains(rest, ")") || each && strings.Contains(braced, "}")
}

func backslashes(path string, _ bool) (fix string, found bool) {
	if !strings.Contains(path, `\`) {
		return "", false
	}
	if path = strings.ReplaceAll(path, `\`, "/"); !canMatch(path, true) {
		path = "/" + path
	}
	return path, true
}

// siteURL finds an address without a path, whose path would be all of the site.
func siteURL(path string, can bool) (fix string, found bool) {
	fix, found = addressPath(path, can)
	return fix, found && fix == "/"
}

func addressPath(path string, can bool) (fix string, found bool) {
	rest, found := cutScheme(path)
	found = found || len(path) > 4 && strings.EqualFold(path[:4], "www.") || isHost(path)
	if can || !found {
		return "", false
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:], true
	}
	return "/", true
}

// isHost reports whether a path without a slash before it begins with the name of a host, as far as
// its end shows, and not with that of a file.
func isHost(path string) bool {
	host, _, more := strings.Cut(path, "/")
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || strings.ContainsAny(host, "*?=&") {
		return false
	}
	end := fold(host[dot+1:])
	return topDomains[end] || more && len(end) == 2 && end[0] >= 'a' && end[1] >= 'a' && !shortSuffixes[end]
}

var (
	topDomains    = wordSet("com org net edu gov info biz example")
	shortSuffixes = wordSet("js pl py rb ts md gz db so ps do cs vb") // of files
)

// noPath finds words that are no paths.
func noPath(path string, can bool) (fix string, found bool) {
	return "", !can && noPaths[fold(path)]
}

var noPaths = wordSet("all any every everything everyone none nothing no yes true false never always off on")

func noSlash(path string, can bool) (fix string, found bool) {
	switch {
	case can:
		return "", false
	case strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"):
		return path[strings.IndexByte(path, '/'):], true
	case strings.IndexByte(".?&=;", path[0]) >= 0:
		return "/*" + path, true
	}
	return "/" + path, true
}

// rawLetters finds letters beyond ASCII, which stand for themselves here and not everywhere.
func rawLetters(path string, _ bool) (fix string, found bool) {
	var b []byte
	for i := range len(path) {
		if c := path[i]; c < 0x80 {
			b = append(b, c)
		} else {
			found = true
			b = append(b, '%', capitalHex[c>>4], capitalHex[c&15])
		}
	}
	return string(b), found
}

// linesFor says which lines of one field to write.
func linesFor(field string, values []string) string {
	begin := `"` + field + ": "
	switch text := strings.Join(values, `" and `+begin); {
	case len(values) == 1:
		return begin + text + `"`
	case len(text) > maxExcerpt/2:
		return begin + values[0] + `" and so on, a line for each`
	default:
		return begin + text + `", a line for each`
	}
}
