package robotsrules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// UnknownWord returns the error for a word that is none of those of a list, such as "refuse,
// observe or wait <duration>". It says which one may be meant.
func UnknownWord(word, list string) error {
	known := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
	known = slices.DeleteFunc(known, func(k string) bool { return k == "or" || k[0] == '<' })
	if meant := Meant(word, known); meant != "" {
		return fmt.Errorf("%q is unknown; did you mean %s? Write %s", word, meant, list)
	}
	return fmt.Errorf("%q is unknown; write %s", word, list)
}

// Meant returns the one of the known words that may be meant by word, which is none of them: the
// closest, or the only one that it is a part of. It returns "" for none.
func Meant(word string, known []string) string {
	bare := bareWord(word)
	if closest := Closest(word, known, 2); closest != "" || len(bare) < 3 {
		return closest
	}
	parts := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.Contains(bareWord(k), bare) })
	if len(parts) != 1 || strings.EqualFold(parts[0], word) {
		return ""
	}
	return parts[0]
}

// Closest returns the known word that somebody may have meant by word. The two differ by at most so
// many mistakes (a letter too many, too few, wrong, or two exchanged), and by at most one for each
// four letters. Case, blanks and hyphens do not count. It returns "" if no word is near, or if word
// itself is known.
func Closest(word string, known []string, most int) (closest string) {
	bare := bareWord(word)
	fewest := min(len(bare)/4, most) + 1
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return ""
		}
		target := bareWord(k)
		n := slips(bare, target, fewest)
		if n == fewest && most > 1 && len(target) > 4 && isInflected(bare, target) {
			n = fewest - 1
		}
		if n < fewest && (len(bare) > 4 || target != "" && bare[0] == target[0]) {
			fewest, closest = n, k
		}
	}
	return closest
}

// bareWord returns the letters and digits of a word, in small letters.
func bareWord(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fold(word))
}

// isInflected reports whether word is target with an ending.
func isInflected(word, target string) bool {
	ending, found := strings.CutPrefix(word, target)
	return found && (ending == "s" || ending == "d" || ending == "ed" || ending == "ing")
}

// longestWord is the length of the longest word that is compared.
const longestWord = 40

// slips returns how many slips of the pen lead from a to b, or most where it is no fewer (the
// distance of Damerau and Levenshtein, with each pair of letters exchanged once).
func slips(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most || len(a) > longestWord || len(b) > longestWord {
		return most
	}
	var rows [3][longestWord + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, last, beforeLast := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
	}
	return min(rows[len(a)%3][len(b)], most)
}
