package integration

import (
	"fmt"
	"strings"
)

// A kind of spelling writes a request target in other ways. Which of them still name the
// same page is for a back end to say, not for the generator.
type kind struct {
	name  string
	spell spells // of one that begins with a slash
}

// kinds are all that is tried, alone and in pairs. {host} stands for the site's own host.
var kinds = []kind{
	{"encoded byte", encodedBytes},
	{"all encoded", allEncoded},
	{"raw byte", rawBytes},
	{"any byte", anyByte},
	{"double encoding", doublyEncoded},
	{"dot segment", atSlashes("/./", "/%2e/", "/%2E/", "/.%2f", "/././").and(atEnd("/.", "/%2e", "/./"))},
	{"dot-dot segment", atSlashes("/x/../", "/x/%2e%2e/", "/x/.%2E/", "/x%2f..%2F", "/open/../", "/x/y/../../", "/private/../", "/x/..//", "/x//../").
		and(atStart("/..", "/../..", "/%2e%2e")).and(atEnd("/x/..", "/x/%2e%2e", "/x/../", "/x/y/../.."))},
	{"repeated slash", atSlashes("//", "///", "/%2F", "%2f/", "//////").and(atEnd("//", "/%2f"))},
	{"encoded slash", atSlashes("%2F", "%2f").and(everySlash("%2F")).and(atStart("/%2f..", "/x%2fy/..", "/x%2fy/../.."))},
	{"slash before dots", atSlashes("/x//../", "/x//../../", "/x/..//../", "/x%2f/../")},
	{"backslash", atSlashes(`\`, `%5C`, `%5c`, `/\`, `\/`, `/x/..\`, `/x\..\`, `/x%5c..%5c`).and(everySlash(`\`)).and(atEnd(`\`, `?\`))},
	{"parameters", atSlashes(";x/", ";/", ";jsessionid=1/", "%3Bx/", "/x/..;/", "/.;/", "/;x/").and(atEnd(";", ";x", ";x=/open.html", "%3b", "?;x"))},
	{"fragment", atEnd("#", "#x", "#/../x", "%23", "?#", "?x#y", "?#/../x").and(atSlashes("/x#/../", "/#/../", "#/"))},
	{"query", atEnd("?", "?x", "?/../x", "??", "?x=/open.html", "?x=/private/", "%3F", "%3fx", "?x.pdf", "?/robots.txt").and(atStart("?", "/?"))},
	{"NUL", atEnd("%00", "%00.html", "\x00", "?%00", "?\x00").and(atSlashes("%00/", "/%00/", "/x%00/../"))},
	{"control byte", controls},
	{"overlong UTF-8", overlong},
	{"broken escape", atEnd("%", "%zz", "%2", "%u0020", "%%32%65", "?%", "?%zz", "?%u002f").and(atSlashes("%/", "/%/", "%u002f", "%%32%66", "/x%zz/../"))},
	{"trailing bytes", atEnd(".", "/", "//", "%20", "...", "~", "+", "::$DATA", ".%20", "/x", "?.").and(atSlashes("./", " /", "%20/"))},
	{"case", swappedCase},
	{"absolute form", absoluteForms},
	{"host", atStart("//x", "//{host}", "///x.test:80", "//u:p@x", "//private", "//x/..", "//x/y/%2e%2e", "//x?/..", "/%2fx", "/./x")},
}

// spells returns the spellings of a target that a kind makes.
type spells func(target string) []string

// and returns the spellings of both.
func (s spells) and(other spells) spells {
	return func(target string) []string { return append(s(target), other(target)...) }
}

// split divides a target into path and query, which keeps its question mark.
func split(target string) (path, query string) {
	if i := strings.IndexByte(target, '?'); i >= 0 {
		return target[:i], target[i:]
	}
	return target, ""
}

// atSlashes puts each text in the place of each slash of the path, one at a time.
func atSlashes(texts ...string) spells {
	return func(target string) (all []string) {
		path, query := split(target)
		for i := range path {
			if path[i] != '/' {
				continue
			}
			for _, text := range texts {
				if i == 0 && text[0] != '/' {
					text = "/" + text
				}
				all = append(all, path[:i]+text+path[i+1:]+query)
			}
		}
		return all
	}
}

// everySlash puts text in the place of all slashes but the first.
func everySlash(text string) spells {
	return func(target string) []string {
		path, query := split(target)
		return []string{"/" + strings.ReplaceAll(path[1:], "/", text) + query}
	}
}

// atStart puts each text before the path.
func atStart(texts ...string) spells {
	return func(target string) (all []string) {
		for _, text := range texts {
			all = append(all, text+target)
		}
		return all
	}
}

// atEnd puts each text after the path, before the query.
func atEnd(texts ...string) spells {
	return func(target string) (all []string) {
		path, query := split(target)
		for _, text := range texts {
			all = append(all, path+text+query)
		}
		return all
	}
}

// tokens divides a path into bytes and escapes.
func tokens(path string) (all []string) {
	for len(path) > 0 {
		n := 1
		var decoded byte
		if read, _ := fmt.Sscanf(path[:min(3, len(path))], "%%%02x", &decoded); read == 1 && len(path) >= 3 {
			n = 3
		}
		all = append(all, path[:n])
		path = path[n:]
	}
	return all
}

// byteOf returns the byte that a token stands for.
func byteOf(token string) (c byte) {
	if len(token) == 3 {
		_, _ = fmt.Sscanf(token, "%%%02x", &c) // tokens has read it
		return c
	}
	return token[0]
}

// eachToken replaces the tokens of a path one at a time, but for the first slash.
func eachToken(target string, others func(token string) []string) (all []string) {
	path, query := split(target)
	parts := tokens(path)
	for i, part := range parts[1:] {
		before, after := strings.Join(parts[:i+1], ""), strings.Join(parts[i+2:], "")
		for _, other := range others(part) {
			if other != part {
				all = append(all, before+other+after+query)
			}
		}
	}
	return all
}

func encodedBytes(target string) []string {
	return eachToken(target, func(token string) []string {
		upper, lower := fmt.Sprintf("%%%02X", byteOf(token)), fmt.Sprintf("%%%02x", byteOf(token))
		if upper == lower {
			return []string{upper}
		}
		return []string{upper, lower, upper[:2] + lower[2:]}
	})
}

func doublyEncoded(target string) []string {
	all := eachToken(target, func(token string) []string {
		return []string{fmt.Sprintf("%%25%02X", byteOf(token)), fmt.Sprintf("%%%%%02x%%%02x", "0123456789ABCDEF"[byteOf(token)>>4], "0123456789ABCDEF"[byteOf(token)&15])}
	})
	path, query := split(target)
	return append(all, "/"+strings.ReplaceAll(path[1:], "/", "%252F")+query, target+"?%2520")
}

func allEncoded(target string) []string {
	path, query := split(target)
	var but, whole strings.Builder
	for _, token := range tokens(path)[1:] {
		encoded := fmt.Sprintf("%%%02x", byteOf(token))
		whole.WriteString(encoded)
		if token == "/" {
			encoded = token
		}
		but.WriteString(encoded)
	}
	return []string{"/" + but.String() + query, "/" + whole.String() + query}
}

// rawBytes puts the byte itself in the place of an escape.
func rawBytes(target string) []string {
	all := eachToken(target, func(token string) []string {
		if c := byteOf(token); c != '\n' { // that ends the request line
			return []string{string([]byte{c})}
		}
		return nil
	})
	path, query := split(target)
	var raw []byte
	for _, token := range tokens(path) {
		raw = append(raw, byteOf(token))
	}
	if whole := string(raw) + query; whole != target && !strings.Contains(whole, "\n") {
		all = append(all, whole)
	}
	return all
}

// anyByte adds each byte to the path, encoded and raw.
func anyByte(target string) (all []string) {
	for c := range 256 {
		all = append(all, atEnd(fmt.Sprintf("%%%02X", c))(target)...)
		if c != '\n' {
			all = append(all, atEnd(string([]byte{byte(c)}))(target)...)
		}
	}
	return all
}

func controls(target string) (all []string) {
	for _, c := range []byte("\x01\b\t\v\f\r\x1b \x7f\x85\xa0") {
		encoded, raw := fmt.Sprintf("%%%02x", c), string([]byte{c})
		all = append(all, atEnd(encoded, raw, "?"+encoded, "?"+raw)(target)...)
		all = append(all, atSlashes(encoded+"/", "/"+raw, "/"+encoded+"/../")(target)...)
		all = append(all, raw+target)
	}
	return all
}

// overlong writes slashes, dots and letters as longer UTF-8 than need be.
func overlong(target string) []string {
	all := eachToken(target, func(token string) []string {
		c := byteOf(token)
		if c >= 0x80 {
			return nil
		}
		return []string{fmt.Sprintf("%%%02x%%%02x", 0xc0|c>>6, 0x80|c&0x3f), string([]byte{0xc0 | c>>6, 0x80 | c&0x3f})}
	})
	all = append(all, atSlashes("%e0%80%af", "%f0%80%80%af", "/%c0%ae/", "/x/%c0%ae%c0%ae/", "/x/%e0%80%ae./", "/x%c0%af../", "%ef%bc%8f", "/x/%ef%bc%8e%ef%bc%8e/")(target)...)
	return append(all, target+"?%c0%af")
}

func swappedCase(target string) []string {
	swap := func(s string) string {
		if upper := strings.ToUpper(s); upper != s {
			return upper
		}
		return strings.ToLower(s)
	}
	all := eachToken(target, func(token string) []string { return []string{swap(token)} })
	return append(all, strings.ToUpper(target), "HTTP://{HOST}"+target, target+"?X")
}

func absoluteForms(target string) []string {
	return []string{
		"http://{host}" + target, "HTTP://{HOST}" + target, "https://{host}" + target, "http://{host}:1" + target, "http://user:word@{host}" + target,
		"http://{host}:" + target, "http://{host}." + target, "//{host}" + target, "http:" + target, "http://" + target, "http:" + target[1:], target[1:],
		"x:" + target, "http://{host}" + target[1:], "http://{host}//" + target, "http://{host}/x/.." + target, "http://{host}" + target + "#", "*", "*" + target,
	}
}

// thin returns at most n of all, evenly spread; another turn has others.
func thin(all []string, n, turn int) (some []string) {
	step := (len(all) + n - 1) / n
	for i := range all {
		if i%step == turn%step {
			some = append(some, all[i])
		}
	}
	return some
}

// A spelling is a request target and how it was made.
type spelling struct {
	kinds  []string
	target string
}

// singles returns spellings of a target by one kind, of which each gives at most n.
func singles(target string, n, turn int) (all []spelling) {
	for _, k := range kinds {
		for _, spelt := range thin(k.spell(target), n, turn) {
			all = append(all, spelling{[]string{k.name}, spelt})
		}
	}
	return all
}

// pairs returns spellings by two kinds, one after the other, of which each gives at most n.
func pairs(target string, n, turn int) (all []spelling) {
	for i, first := range kinds {
		for _, half := range thin(first.spell(target), n, turn+i) {
			if !strings.HasPrefix(half, "/") {
				continue
			}
			for j, second := range kinds {
				for _, spelt := range thin(second.spell(half), n, turn+i+j) {
					all = append(all, spelling{[]string{first.name, second.name}, spelt})
				}
			}
		}
	}
	return all
}
