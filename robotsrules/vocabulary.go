package robotsrules

import (
	"slices"
	"strings"
)

// A label is a key of a preference, with the values that it may have: the one that grants least
// comes first.
type label struct {
	key    string
	values []string
}

// vocabularies are what preferences may say, as of November 2026.
var vocabularies = map[field][]label{
	// draft-ietf-aipref-vocab, the editors' copy of 19 August 2026.
	contentUsage: {{"train-ai", []string{"n", "y"}}, {"search", []string{"n", "y"}}},
	// Cloudflare's Content Signals; "use" stands in the files that it manages.
	contentSignal: {
		{"search", []string{"no", "yes"}}, {"ai-input", []string{"no", "yes"}}, {"ai-train", []string{"no", "yes"}},
		{"use", []string{"immediate", "reference", "full"}},
	},
}

// otherWords are words of one vocabulary, and what stands for them in the other.
var otherWords = map[field]map[string]string{
	contentUsage:  {"ai-train": "train-ai", "train": "train-ai", "no": "n", "yes": "y"},
	contentSignal: {"train-ai": "ai-train", "train": "ai-train", "n": "no", "y": "yes"},
}

// cutMember takes a member of a preference apart, without parameters.
func cutMember(member string) (key, value string) {
	member, _, _ = strings.Cut(trim(member), ";")
	key, value, _ = strings.Cut(member, "=")
	return trim(key), trim(value)
}

// checkVocabulary tells of members that state nothing, and of a path that the draft has not.
func (p *parser) checkVocabulary(l *line, path, preference string) {
	known := vocabularies[l.field]
	var wrong, meant []string
	for member := range strings.SplitSeq(preference, ",") {
		key, value := cutMember(member)
		if states(known, key, value) {
			meant = append(meant, key+"="+value)
			continue
		}
		wrong = append(wrong, trim(member))
		if key, value = translated(l.field, key), translated(l.field, value); states(known, key, value) {
			meant = append(meant, key+"="+value)
		}
	}
	d := detail{field: l.field.String(), text: strings.Join(wrong, ", "), example: spelled(known), fix: strings.Join(meant, ", ")}
	if path != "" {
		d.fix = path + " " + d.fix
	}
	switch {
	case len(wrong) > 0 && len(meant) > 0:
		p.report(l.number, findOtherWord, d)
	case len(wrong) > 0:
		p.report(l.number, findNoWord, d)
	case path != "" && path[0] == '*':
		d.text, d.fix = path, "/"+d.fix
		p.report(l.number, findStarPath, d)
	}
}

// states reports whether a member is of the vocabulary.
func states(known []label, key, value string) bool {
	return slices.ContainsFunc(known, func(l label) bool { return l.key == key && slices.Contains(l.values, value) })
}

func translated(f field, word string) string {
	if other := otherWords[f][word]; other != "" {
		return other
	}
	return word
}

// spelled writes a vocabulary down.
func spelled(known []label) string {
	words := make([]string, len(known))
	for i, l := range known {
		words[i] = l.key + "=" + strings.Join(l.values, "|")
	}
	return strings.Join(words, ", ")
}

// grants says how much a value grants: 0 nothing, more of the others; a value that no vocabulary
// knows states nothing, so that any other goes before it.
func grants(value string) int {
	const unknown = 1 << 10
	for _, known := range vocabularies {
		for _, l := range known {
			if i := slices.Index(l.values, value); i >= 0 {
				return i
			}
		}
	}
	return unknown
}

// joinPreferences returns what several preferences for one path come to. Of one key twice in one of
// them the last counts (RFC 9651, section 3.2), and of several for one key that which grants least
// (draft-ietf-aipref-vocab, "Combining Preferences"); parameters do not count, and stay.
// What is longer than a header may be is left out.
func joinPreferences(preferences []string) string {
	var keys []string
	all := make(map[string]string)
	for _, preference := range preferences {
		own := make(map[string]string)
		for member := range strings.SplitSeq(preference, ",") {
			key, _ := cutMember(member)
			if _, known := all[key]; !known {
				keys = append(keys, key)
				all[key] = ""
			}
			own[key] = trim(member)
		}
		for key, member := range own {
			_, value := cutMember(member)
			_, before := cutMember(all[key])
			if all[key] == "" || grants(value) < grants(before) {
				all[key] = member
			}
		}
	}
	joined := all[keys[0]]
	for _, key := range keys[1:] {
		if len(joined)+len(", ")+len(all[key]) <= maxStated {
			joined += ", " + all[key]
		}
	}
	return joined
}
