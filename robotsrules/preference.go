package robotsrules

import "strings"

// A Content-Usage line (draft-ietf-aipref-attach, section 3) states, for a path, a
// preference on how content may be used: a dictionary such as "train-ai=n, search=y".
// The path may be left out, which means every path. A Content-Signal line, which has
// other words, is read the same way.

// cutPreference takes the value of such a line apart; the path is "" when the line
// has none.
func cutPreference(value string) (path, preference string) {
	if value == "" || value[0] != '/' && value[0] != '*' {
		return "", value
	}
	end := strings.IndexAny(value, blanks)
	if end < 0 {
		end = len(value)
	}
	return value[:end], trim(value[end:])
}

// isPreference reports whether s is a dictionary of plain words (RFC 9651, section
// 3.2). Such a text can stand in a header as it is.
func isPreference(s string) bool {
	if len(s) > maxStated {
		return false
	}
	for member := range strings.SplitSeq(s, ",") {
		key, word, found := strings.Cut(trim(member), "=")
		if !isKey(key) || found && !isWord(word) {
			return false
		}
	}
	return true
}

// isKey reports whether s is a key of a dictionary.
func isKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || c == '*'
		if !letter && (i == 0 || !('0' <= c && c <= '9') && strings.IndexByte("-_.", c) < 0) {
			return false
		}
	}
	return s != ""
}

// isWord reports whether s is a bare word, with parameters behind it or not.
func isWord(s string) bool {
	for i := range len(s) {
		if !inURI[s[i]] || strings.IndexByte("[]@(),", s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

// content takes a Content-Usage or Content-Signal line, and keeps what the record, or
// the file, says.
func (p *parser) content(l *line) {
	p.checkPreference(l)
	if p.group == nil {
		p.file.Fields = append(p.file.Fields, l.kept())
		return
	}
	p.body = true
	if l.field == contentSignal {
		p.group.ContentSignals = append(p.group.ContentSignals, l.kept())
		return
	}
	p.group.ContentUsages = append(p.group.ContentUsages, l.kept())
}

func (p *parser) checkPreference(l *line) {
	path, preference := cutPreference(l.value)
	d := detail{field: l.field.String(), text: l.value, fix: "train-ai=n"}
	if l.field == contentSignal {
		d.fix = "ai-train=no"
	}
	switch {
	case len(l.value) > maxStated:
		p.report(l.number, findLongValue, d)
	case preference == "" && path != "":
		d.fix = path + " " + d.fix
		p.report(l.number, findNoPreference, d)
	case !isPreference(preference):
		p.report(l.number, findBadPreference, d)
	case p.group == nil:
		p.report(l.number, p.noRecord(), detail{field: l.field.String(), number: p.blank})
	case path != "" && !canMatch(path, readingOf(p.file.Dialect, p.group).stars()):
		p.report(l.number, findStar, detail{field: l.field.String(), text: path, fix: p.file.Dialect.String()})
	}
}

// joinPreferences returns what two preferences for one path come to: of two words for
// one key the one that says no holds, and else the first
// (draft-ietf-aipref-vocab, "Combining Preferences").
func joinPreferences(a, b string) string {
	var members []string
	at := make(map[string]int)
	for member := range strings.SplitSeq(a+","+b, ",") {
		member = trim(member)
		key, word, _ := strings.Cut(member, "=")
		if i, found := at[key]; !found {
			at[key] = len(members)
			members = append(members, member)
		} else if word == "n" || word == "no" {
			members[i] = member
		}
	}
	return strings.Join(members, ", ")
}
