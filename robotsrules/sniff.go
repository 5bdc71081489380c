package robotsrules

import "strings"

const byteOrderMark = "\xEF\xBB\xBF"

// sniff returns what of the text is to be read as lines: without a byte order
// mark, cut to size, and nothing at all of a text that cannot be a robots.txt.
func sniff(raw string, limit int, ds *diagnostics) string {
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	limit = min(limit, mostBytes)
	if isUTF16(raw) {
		ds.add(1, findUTF16, detail{})
		return ""
	}
	text := raw[:wholeLines(raw, limit)]
	rest := raw[len(text):]
	if rest != "" {
		text = strings.Clone(text) // so that nobody holds the rest
	}
	text = strings.TrimPrefix(text, byteOrderMark)
	if isHTML(text) {
		ds.add(1, findHTML, detail{})
		return ""
	}
	if skipLineEnd(rest) < len(rest) {
		ds.add(lineAfter(text), findCut, detail{number: limit})
	}
	return text
}

// wholeLines returns how many bytes the lines have that end at or before limit.
// Half a line would be another rule than its author wrote.
func wholeLines(raw string, limit int) int {
	if len(raw) <= limit {
		return len(raw)
	}
	if raw[limit] == '\n' || raw[limit] == '\r' {
		return limit
	}
	return strings.LastIndexAny(raw[:limit], "\r\n") + 1
}

// skipLineEnd returns the length of the line end that rest begins with.
func skipLineEnd(rest string) int {
	switch {
	case strings.HasPrefix(rest, "\r\n"):
		return 2
	case len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n'):
		return 1
	}
	return 0
}

// lineAfter returns the number of the first line that is not in text.
func lineAfter(text string) int {
	s := scanner{text: text}
	for {
		if _, ok := s.next(); !ok {
			return s.number + 1
		}
	}
}

// isUTF16 reports whether raw is UTF-16 in either order: by its mark, or because
// one of each of the first two pairs of bytes is zero and the other is not.
func isUTF16(raw string) bool {
	if len(raw) >= 2 && (raw[0] == 0xFF && raw[1] == 0xFE || raw[0] == 0xFE && raw[1] == 0xFF) {
		return true
	}
	if len(raw) < 4 {
		return false
	}
	zero := [4]bool{raw[0] == 0, raw[1] == 0, raw[2] == 0, raw[3] == 0}
	return zero == [4]bool{true, false, true, false} || zero == [4]bool{false, true, false, true}
}

var htmlStarts = [...]string{"<!doctype html", "<html", "<head", "<body", "<?xml", "<title", "<meta", "<script"}

// IsHTML reports whether text is a page: many sites answer every address with
// one, /robots.txt too. [Parse] reads no rules in it.
func IsHTML(text string) bool { return isHTML(strings.TrimPrefix(text, byteOrderMark)) }

func isHTML(text string) bool {
	const blanks = " \t\r\n"
	text = strings.TrimLeft(text, blanks)
	for strings.HasPrefix(text, "<!--") {
		end := strings.Index(text, "-->")
		if end < 0 {
			return false
		}
		text = strings.TrimLeft(text[end+len("-->"):], blanks)
	}
	for _, start := range htmlStarts {
		if len(text) >= len(start) && strings.EqualFold(text[:len(start)], start) {
			return true
		}
	}
	return false
}
