package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Rules is a robots.txt ready to decide. It does not change, must not be copied, and is safe for
// concurrent use; hosts with the same text share one.
type Rules struct {
	enforce.Rules
	Text        string
	File        *robotsrules.File
	Diagnostics []robotsrules.Diagnostic // by line

	// States are the kinds of statements that the file has any of.
	States Statements

	// SitemapLinks and LicenseLinks are links to what the file names, as one Link header each.
	SitemapLinks, LicenseLinks string

	// hidden are the time gates that are not to be told of.
	hidden []string

	weight int64 // about how many bytes it takes
}

// RuleCount returns how many Allow and Disallow lines the text has.
func (rs *Rules) RuleCount() (rules int) {
	for _, group := range rs.File.Groups {
		rules += len(group.Rules)
	}
	return rules
}

// SeverityCounts returns how many diagnostics of each severity the text has.
func (rs *Rules) SeverityCounts() (counts [robotsrules.Error + 1]int) {
	for _, d := range rs.Diagnostics {
		counts[d.Severity]++
	}
	return counts
}

// No text decides in these: everything is denied.
const (
	deniedForbidden   = "robots.txt is itself forbidden (401 or 403), which draft1996 reads as all disallowed"
	deniedUnreachable = "robots.txt could not be loaded yet, and the site denies robots until it is"
)

// deniedBy says why a document disallows everything, whatever its text; "" if it does not.
func deniedBy(doc *Document, dialect robotsrules.Dialect) string {
	if doc.Forbidden && dialect == robotsrules.Draft1996 {
		return deniedForbidden
	}
	return ""
}

// whole returns the options to read all of a text that was cut to its size already.
func whole(reading robotsrules.Options, text string) robotsrules.Options {
	reading.MaxBytes = max(reading.MaxBytes, len(text))
	return reading
}

// Compile returns the rules of a document. The same text, compiled in the same way, gives the same
// Rules while they are in use.
func (c *Cache) Compile(doc Document, reading robotsrules.Options, match robotsrules.Match) *Rules {
	rules, _ := c.library.compile(doc.Text, nil, provenance{denied: deniedBy(&doc, reading.Dialect), foreign: doc.foreign}, reading, match)
	return rules
}

// library shares one Rules among all hosts that have the same text and read it the same way, while
// one of them uses it: a site with a catch-all address has one robots.txt under any number of
// made-up hosts. It is safe for concurrent use.
type library struct {
	mu    sync.Mutex // guards rules
	rules map[libraryKey]weak.Pointer[Rules]
}

type libraryKey struct {
	text    [sha256.Size]byte
	notes   [sha256.Size]byte
	reading robotsrules.Options
	match   robotsrules.Match
	from    provenance
}

// provenance is what rules depend on besides the text.
type provenance struct {
	denied  string // why everything is disallowed, "" if it is not
	foreign bool   // part of the text is another host's, to which the site has only redirected
}

func newLibrary() library { return library{rules: make(map[libraryKey]weak.Pointer[Rules])} }

// compile returns the rules of a text, and whether it had to be compiled. Notes are diagnostics
// that its lines do not show.
func (lib *library) compile(
	text string, notes []robotsrules.Diagnostic, from provenance, reading robotsrules.Options, match robotsrules.Match,
) (rules *Rules, fresh bool) {
	key := libraryKey{text: sha256.Sum256([]byte(text)), reading: reading, match: match, from: from}
	if len(notes) > 0 {
		key.notes = sha256.Sum256(fmt.Append(nil, notes))
	}
	lib.mu.Lock()
	rules = lib.rules[key].Value()
	lib.mu.Unlock()
	if rules != nil {
		return rules, false
	}

	// Compiled outside the lock: a large file must not hold up other hosts. Should two
	// compile the same text at once, both results are right.
	file := robotsrules.ParseString(text, reading)
	compiled := robotsrules.Compile(file, match)
	sitemaps, licenses := compiled.Sitemaps(), compiled.Licenses()
	rules = &Rules{Text: text, File: file, Diagnostics: diagnostics(file, notes), States: statementsOf(file, compiled)}
	if from.foreign {
		sitemaps, licenses = slices.DeleteFunc(slices.Clone(sitemaps), isInternal), slices.DeleteFunc(slices.Clone(licenses), isInternal)
		for _, gate := range file.TimeGates {
			if isInternal(gate.URL) {
				rules.hidden = append(rules.hidden, gate.URL)
			}
		}
	}
	rules.SitemapLinks, rules.LicenseLinks = linksTo("sitemap", "", sitemaps), linksTo("license", typeOfLicense, licenses)
	rules.weight = weightOf(rules)
	rules.Compiled, rules.Version, rules.Denied = compiled, hex.EncodeToString(key.text[:8]), from.denied
	lib.mu.Lock()
	defer lib.mu.Unlock()
	lib.rules[key] = weak.Make(rules)
	runtime.AddCleanup(rules, lib.forget, key)
	return rules, true
}

// weightOf returns about how many bytes rules take, by what was measured of files of many kinds:
// TestMemoryIsWhatItIsTakenFor.
func weightOf(rs *Rules) int64 {
	weight := 4200 + len(rs.Text)
	for _, group := range rs.File.Groups {
		weight += 250 + 550*len(group.Tokens) + 150*len(group.Rules)
	}
	return int64(weight + 100*len(rs.Diagnostics))
}

// forget drops a key whose rules are gone.
func (lib *library) forget(key libraryKey) {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if lib.rules[key].Value() == nil {
		delete(lib.rules, key)
	}
}
