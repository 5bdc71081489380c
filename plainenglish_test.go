package robots

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// How long a line of a document may be, in characters. Tables, code, links and HTML may be longer.
const widestLine = 120

// proseLimits are how long sentences may be, in words: on average on one page, and at the most. Code
// between backquotes is one word. Pages for those who come first have the first limits, what
// people look things up in has the second. Sentences in tables count for the longest only.
var (
	firstPages = proseLimits{average: 16, longest: 35}
	otherPages = proseLimits{average: 20, longest: 45}
)

type proseLimits struct {
	average float64
	longest int
}

// notOurs are words and idioms at which a reader of English as a second language stops, each with
// what to write instead. They are looked for in documents, in comments of Go files and in the
// texts that Go files print.
var notOurs = []struct{ pattern, instead string }{
	{`octets?`, "byte"},
	{`tells? (?:whether|if)`, "reports whether"},
	{`stands? on (?:a|the|its) page`, "see the report at"},
	{`said again`, "repeated"},
	{`spends? (?:\w+ )?\w+'s (?:pace|limit|budget)`, "uses up the limit of"},
	{`lest`, "so that ... not"},
	{`now and then`, "sometimes"},
	{`otherwise than`, "differently from"},
	{`in vain`, "without success"},
	{`(?:go|goes|went) round`, "say where it goes"},
	{`at hand`, "known, loaded"},
	{`by way of`, "through"},
	{`for want of`, "without"},
	{`thinned out`, "sampled"},
	{`(?:let|lets|letting) go`, "release"},
	{`made known`, "reported"},
	{`mend(?:s|ed|ing)?`, "fix, correct"},
	{`whence|thence|hitherto|heretofore|whilst|amongst|shall|nought|naught`, "a usual word"},
	{`(?:there|where|here)(?:of|upon|with|to|from)`, "of it, with it, ..."},
	{`utili[sz]e[sd]?`, "use"},
	{`in order to`, "to"},
	{`e\.g\.`, "for example"},
	{`i\.e\.`, "that is"},
}

// A sentence of a document, with the line that its paragraph begins on.
type sentence struct {
	text    string
	line    int
	inTable bool
}

func (s sentence) words() int {
	return len(slices.DeleteFunc(strings.Fields(s.text), func(word string) bool { return !regexp.MustCompile(`\w`).MatchString(word) }))
}

var (
	proseLink     = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)
	proseCode     = regexp.MustCompile("``[^`\n].*?``|`[^`\n]+`")
	proseTag      = regexp.MustCompile(`<[^>]*>`)
	proseEnd      = regexp.MustCompile(`[.!?]["”)*]*\s+(["“(\[*]*[A-Z0-9])`)
	proseListItem = regexp.MustCompile(`^(?:[-*+]|\d+[.)])\s+`)
	proseFence    = regexp.MustCompile("^\\s*(```+|~~~+)")
)

// sentencesOf reads Markdown. Headings and blocks of code have no sentences.
func sentencesOf(markdown string) (all []sentence) {
	var paragraph []string
	begun, fence := 0, ""
	end := func(inTable bool) {
		text := proseCode.ReplaceAllString(strings.Join(paragraph, " "), "Code")
		text = proseTag.ReplaceAllString(proseLink.ReplaceAllString(text, "$1"), "")
		for text != "" {
			rest := ""
			if at := proseEnd.FindStringSubmatchIndex(text); at != nil {
				text, rest = text[:at[2]], text[at[2]:]
			}
			if s := (sentence{strings.TrimSpace(text), begun, inTable}); s.words() > 0 {
				all = append(all, s)
			}
			text = rest
		}
		paragraph = nil
	}
	for number, line := range strings.Split(markdown, "\n") {
		if m := proseFence.FindStringSubmatch(line); m != nil && (fence == "" || strings.HasPrefix(m[1], fence)) {
			if end(false); fence == "" {
				fence = m[1]
			} else {
				fence = ""
			}
			continue
		}
		if line = strings.TrimSpace(line); fence != "" {
			continue
		}
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			end(false)
			continue
		case strings.HasPrefix(line, "|"):
			end(false)
			for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, "/"), "|") {
				begun, paragraph = number+1, []string{cell}
				end(true)
			}
			continue
		case proseListItem.MatchString(line):
			end(false)
			line = proseListItem.ReplaceAllString(line, "")
		}
		if paragraph == nil {
			begun = number + 1
		}
		paragraph = append(paragraph, line)
	}
	end(false)
	return all
}

func TestSentencesOfADocument(t *testing.T) {
	got := sentencesOf("# A heading. Not one\n\nOne two\nthree. \"Four,\" see `five. Six` and [seven. eight](x.md)?\n" +
		"- nine, e.g. ten\n- eleven\n```sh\necho no sentence. At all.\n```\n| a cell | Two in. One cell |\n|---|---|\n<b>end</b>")
	var lines []string
	for _, s := range got {
		lines = append(lines, fmt.Sprintf("%d %d %t %s", s.line, s.words(), s.inTable, s.text))
	}
	want := []string{
		"3 3 false One two three.", `3 6 false "Four," see Code and seven. eight?`, "5 3 false nine, e.g. ten", "6 1 false eleven",
		"10 2 true a cell", "10 2 true Two in.", "10 2 true One cell", "12 1 false end",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// documentsToRead returns all Markdown of this module.
func documentsToRead(t *testing.T) []string {
	t.Helper()
	docs := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			docs = append(docs, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil || len(docs) < 15 {
		t.Fatalf("documents: got %q, %v", docs, err)
	}
	return docs
}

func TestLinesOfDocumentsAreShort(t *testing.T) {
	for _, doc := range documentsToRead(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		fence := ""
		for number, line := range strings.Split(string(text), "\n") {
			if m := proseFence.FindStringSubmatch(line); m != nil && (fence == "" || strings.HasPrefix(m[1], fence)) {
				if fence == "" {
					fence = m[1]
				} else {
					fence = ""
				}
			}
			bare := strings.TrimSpace(line)
			// One piece of code or one link cannot be broken.
			unbroken := !strings.Contains(strings.TrimSpace(proseListItem.ReplaceAllString(proseCode.ReplaceAllString(proseLink.ReplaceAllString(bare, "x"), "x"), "")), " ")
			if utf8.RuneCountInString(line) > widestLine && fence == "" && !strings.HasPrefix(bare, "|") && !strings.HasPrefix(bare, "<") && !unbroken {
				t.Errorf("%s:%d: %d characters, want at most %d: break the line", doc, number+1, utf8.RuneCountInString(line), widestLine)
			}
		}
	}
}

func TestSentencesOfDocumentsAreShort(t *testing.T) {
	for _, doc := range documentsToRead(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		limits := otherPages
		if doc == "README.md" || doc == "docs/README.md" || strings.HasPrefix(doc, "docs/guides/") {
			limits = firstPages
		}
		var words, count, longest int
		for _, s := range sentencesOf(string(text)) {
			n := s.words()
			if n > limits.longest {
				t.Errorf("%s:%d: a sentence of %d words, want at most %d: make it two: %.60s...", doc, s.line, n, limits.longest, s.text)
			}
			if longest = max(longest, n); !s.inTable {
				words, count = words+n, count+1
			}
		}
		if count == 0 {
			t.Errorf("%s: no sentence was found", doc)
			continue
		}
		average := float64(words) / float64(count)
		t.Logf("%s: %d sentences of %.1f words, the longest of %d", doc, count, average, longest)
		if average > limits.average {
			t.Errorf("%s: sentences have %.1f words on average, want at most %g: make them shorter", doc, average, limits.average)
		}
	}
}

func TestWordsThatAreNotOurs(t *testing.T) {
	var patterns []string
	for _, word := range notOurs {
		patterns = append(patterns, word.pattern)
	}
	found := regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`)
	read := make(map[string]int)
	look := func(name, text string, line int) {
		read[filepath.Ext(name)]++
		for _, at := range found.FindAllStringIndex(text, -1) {
			word := text[at[0]:at[1]]
			i := slices.IndexFunc(patterns, func(p string) bool { return regexp.MustCompile(`(?i)^(?:` + p + `)$`).MatchString(word) })
			t.Errorf("%s:%d: %q is not a word of ours: write %q", name, line+strings.Count(text[:at[0]], "\n"), word, notOurs[i].instead)
		}
	}
	for _, doc := range append(documentsToRead(t), "docs/openapi.json", "docs/monitoring/alerts.yml", "docs/monitoring/grafana.json", "internal/compliance/page.html", "Caddyfile.example") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		look(doc, proseCode.ReplaceAllString(string(text), "Code"), 1)
	}
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files++
		for _, comment := range file.Comments {
			look(path, strings.ReplaceAll(comment.Text(), "\n", " "), set.Position(comment.Pos()).Line)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				look(path, strings.ReplaceAll(text, "application/octet-stream", ""), set.Position(lit.Pos()).Line)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 || read[".go"] < 3000 || read[".md"] < 15 {
		t.Errorf("got %d Go files and %v texts, want all of them: the search is broken", files, read)
	}
}
