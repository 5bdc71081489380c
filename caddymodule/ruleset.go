package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// ruleset is a robots.txt ready to decide. It is immutable and safe for concurrent use;
// hosts with the same text share one.
type ruleset struct {
	text        string
	file        *robotsrules.File
	policy      *robotsrules.Policy
	diagnostics []robotsrules.Diagnostic
	version     string // a hash of the text

	// states are the kinds of statements that the file has any of.
	states announcements

	// sitemaps and licenses are links to what the file names, as one header each.
	sitemaps, licenses string

	// denied says why everything is disallowed to whomever the "*" record binds,
	// whatever the text; empty otherwise.
	denied string

	// found remembers which record names the robots that came last.
	found [64]atomic.Pointer[found]
}

// found is the record that names a robot, nil if none does.
type found struct {
	robot   uint64 // crawler.Identity.Hash
	binding *robotsrules.Binding
}

// find returns the record that names the robot, nil if none does. To look for hundreds of
// names in a User-Agent takes longer than all the rest of a judgement, so it is done once.
func (rs *ruleset) find(who *crawler.Identity) *robotsrules.Binding {
	slot := &rs.found[who.Hash%uint64(len(rs.found))]
	if f := slot.Load(); f != nil && f.robot == who.Hash && who.Hash != 0 {
		return f.binding
	}
	binding := rs.policy.Find(robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products})
	slot.Store(&found{who.Hash, binding})
	return binding
}

// No text decides in these.
const (
	deniedForbidden   = "robots.txt is itself forbidden (401 or 403), which draft1996 reads as all disallowed"
	deniedUnreachable = "robots.txt could not be loaded yet, and the site denies robots until it is"
)

// deniedBy says why a document disallows everything, whatever its text; "" if it does not.
func (s *settings) deniedBy(doc *document) string {
	if doc.forbidden && s.reading.Dialect == robotsrules.Draft1996 {
		return deniedForbidden
	}
	return ""
}

// whole returns the settings to read all of a text that has its size already.
func (s settings) whole(text string) settings {
	s.reading.MaxBytes = max(s.reading.MaxBytes, len(text))
	return s
}

// newRuleset compiles a text; notes are diagnostics that its lines do not show.
func newRuleset(text string, sum [sha256.Size]byte, notes []robotsrules.Diagnostic, denied string, s settings) *ruleset {
	file := robotsrules.Parse([]byte(text), s.reading)
	policy := robotsrules.Compile(file, s.match)
	return &ruleset{
		text:        text,
		file:        file,
		policy:      policy,
		states:      statedIn(file, policy),
		sitemaps:    linksTo("sitemap", policy.Sitemaps()),
		licenses:    linksTo("license", policy.Licenses()),
		diagnostics: diagnostics(file, notes),
		version:     hex.EncodeToString(sum[:8]),
		denied:      denied,
	}
}

// library makes one ruleset serve all who have the same text and read it the same way,
// for as long as somebody does: a site with a catch-all address has one robots.txt under
// any number of made-up hosts. It is safe for concurrent use.
type library struct {
	mu    sync.Mutex // guards rules
	rules map[libraryKey]weak.Pointer[ruleset]
}

type libraryKey struct {
	text    [sha256.Size]byte
	notes   [sha256.Size]byte
	reading robotsrules.Options
	match   robotsrules.Match
	denied  string
}

func newLibrary() *library {
	return &library{rules: make(map[libraryKey]weak.Pointer[ruleset])}
}

// compile returns the ruleset of a text, and whether it had to be compiled.
func (lib *library) compile(text, denied string, s settings) (rules *ruleset, fresh bool) {
	return lib.compileNoted(text, nil, denied, s)
}

// compileNoted is compile for a text of which its lines do not show all that is wrong.
func (lib *library) compileNoted(text string, notes []robotsrules.Diagnostic, denied string, s settings) (rules *ruleset, fresh bool) {
	key := libraryKey{text: sha256.Sum256([]byte(text)), reading: s.reading, match: s.match, denied: denied}
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
	rules = newRuleset(text, key.text, notes, denied, s)
	lib.mu.Lock()
	defer lib.mu.Unlock()
	lib.rules[key] = weak.Make(rules)
	runtime.AddCleanup(rules, lib.forget, key)
	return rules, true
}

// forget drops a key whose ruleset is gone.
func (lib *library) forget(key libraryKey) {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if lib.rules[key].Value() == nil {
		delete(lib.rules, key)
	}
}
