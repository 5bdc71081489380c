package caddymodule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	defaultRefresh = time.Minute
	defaultTrapFor = 24 * time.Hour
	minRefresh     = time.Second // less would make the refresh a load of its own
	maxRefresh     = 24 * time.Hour
	maxMaxSize     = 16 << 20
)

// What the options that take one word may be, for a person.
const (
	listDialect     = "rfc9309, draft1996 or norobots1994"
	listMatch       = "substring or token"
	listUnnamed     = "robots, clients, everyone or nobody"
	listDisallowed  = "refuse, observe or pace <rate>"
	listTooFast     = "refuse, observe or wait <duration>"
	listOffHours    = "refuse or observe"
	listUnreachable = "allow or deny"
	listImpostors   = "unnamed, refuse or observe"
)

// settings is what the options of a Handler mean, with the defaults filled in. It does
// not change after it was made.
type settings struct {
	reading     robotsrules.Options
	match       robotsrules.Match
	refresh     time.Duration
	denyUnknown bool // unreachable deny
	unnamed     unnamed
	disallowed  action
	tooFast     action
	maxWait     time.Duration // too_fast wait
	offHours    action
	observe     bool
	serve       bool
	grace       time.Duration
	announce    announcements
	trapFor     time.Duration
	impostors   impostors
	ban         *ratelimit.BanPolicy // nil: nobody is banned

	// defaultPace and disallowedPace are the paces that the site itself states.
	defaultPace, disallowedPace robotsrules.Rate

	// secondLook says that a client which does not call itself a robot may be one.
	secondLook bool

	// browsersToo says that browsers are not passed on at once: they may be bound, be
	// robots at a second look, be answered with the rules, or have statements announced.
	browsersToo bool
}

// readOptions gives the meaning of h's options, or an error that says which one is wrong
// and what to write instead.
func (h *Handler) readOptions() (settings, error) {
	s := settings{refresh: time.Duration(h.Refresh), observe: h.Observe, serve: h.Serve}
	s.secondLook = len(h.Trap) > 0 || len(h.TreatAsRobot) > 0 || h.Verify != nil && h.Verify.Signature
	var errs [18]error
	s.reading.Dialect, errs[0] = choice("dialect", h.Dialect, "rfc9309", parseDialect)
	s.match, errs[1] = choice("match", h.Match, "substring", parseMatch)
	s.unnamed, errs[2] = choice("unnamed", h.Unnamed, "robots", parseUnnamed)
	s.disallowed, errs[3] = choice("disallowed", h.Disallowed, "refuse", parseDisallowed)
	s.tooFast, errs[4] = choice("too_fast", h.TooFast, "refuse", parseTooFast)
	s.offHours, errs[5] = choice("off_hours", h.OffHours, "refuse", parseOffHours)
	s.denyUnknown, errs[6] = choice("unreachable", h.Unreachable, "allow", parseUnreachable)
	errs[7] = h.checkSources()
	errs[8] = h.checkTrap()
	s.impostors, errs[10] = choice("impostors", h.Impostors, "unnamed", parseImpostors)
	errs[9] = checkTexts("treat_as_robot", h.TreatAsRobot)
	s.defaultPace, errs[11] = optionalRate("default_pace", h.DefaultPace)
	s.disallowedPace, errs[12] = optionalRate("disallowed pace", h.DisallowedPace)
	s.maxWait, errs[13] = readMaxWait(h.MaxWait)
	s.ban, errs[14] = h.Ban.policy()
	errs[15] = h.Share.check()
	s.grace, errs[16] = readGrace(h.Grace)
	s.announce, errs[17] = parseAnnounce(h.Announce)
	if err := errors.Join(errs[:]...); err != nil {
		return settings{}, err
	}
	s.browsersToo = s.secondLook || s.serve || s.announce != 0 || s.unnamed.binds(crawler.Browser)
	if s.refresh == 0 {
		s.refresh = defaultRefresh
	}
	if s.refresh < minRefresh || s.refresh > maxRefresh {
		return settings{}, fmt.Errorf("refresh %s: write a duration from %s to %s", s.refresh, minRefresh, maxRefresh)
	}
	s.trapFor = time.Duration(h.TrapFor)
	if s.trapFor == 0 {
		s.trapFor = defaultTrapFor
	}
	s.reading.MaxBytes = robotsrules.DefaultMaxBytes
	if h.MaxSize != 0 {
		if h.MaxSize < 1 || h.MaxSize > maxMaxSize {
			return settings{}, fmt.Errorf("max_size %d: write a size from 1B to 16MiB", h.MaxSize)
		}
		s.reading.MaxBytes = int(h.MaxSize)
	}
	return s, nil
}

func (h *Handler) checkSources() error {
	for i, src := range h.Sources {
		if err := src.check(); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
	}
	return nil
}

func (h *Handler) checkTrap() error {
	for _, path := range h.Trap {
		if !strings.HasPrefix(path, "/") || path == "/" || strings.ContainsAny(path, "*?#") {
			return fmt.Errorf("trap: %q is not a path that can be a trap; write one such as /trap/ or /private/do-not-fetch.html", path)
		}
	}
	if h.TrapFor < 0 {
		return fmt.Errorf("trap: for %s: write a duration such as 24h", time.Duration(h.TrapFor))
	}
	return nil
}

// checkIdleTraps returns an error for a trap that the rules do not keep from all robots,
// where the rules are at hand. Of others the log tells when they are loaded.
func (h *Handler) checkIdleTraps(s settings) error {
	var parts []robotsrules.Part
	for _, src := range h.Sources {
		if src.Text == "" {
			return nil
		}
		parts = append(parts, robotsrules.Part{Text: src.Text, OnlyDisallowAll: src.OnlyDisallowAll})
	}
	if len(parts) == 0 || len(h.Trap) == 0 {
		return nil
	}
	text, _ := robotsrules.Join(parts, s.reading)
	s.reading.MaxBytes = max(s.reading.MaxBytes, len(text))
	policy := robotsrules.Compile(robotsrules.Parse([]byte(text), s.reading), s.match)
	for _, path := range idleTraps(policy, h.Trap) {
		return fmt.Errorf("trap: the rules do not disallow %q to all, so it would catch nobody; "+
			"write \"Disallow: %s\" in the record for \"*\"", path, path)
	}
	return nil
}

// checkTexts returns an error for texts of User-Agents that would occur in any.
func checkTexts(option string, texts []string) error {
	for _, text := range texts {
		if len(strings.TrimSpace(text)) < 3 {
			return fmt.Errorf("%s: %q occurs in any User-Agent; write at least 3 characters of the robot's own", option, text)
		}
	}
	return nil
}

// checkTogether returns an error for options that make no sense together; s is what they
// mean.
func (h *Handler) checkTogether(s settings) error {
	if err := h.checkVerify(); err != nil {
		return err
	}
	if err := h.checkIdleTraps(s); err != nil {
		return err
	}
	if err := h.checkPace(s); err != nil {
		return err
	}
	if h.Serve && len(h.Sources) == 0 {
		return errors.New("serve needs a source: without one the rules are what this site already serves at /robots.txt; " +
			"remove serve, or add source file, source url or source text")
	}
	return nil
}

// choice reads one word of an option; an empty one is its default.
func choice[T any](option, value, byDefault string, parse func(string) (T, error)) (T, error) {
	if value == "" {
		value = byDefault
	}
	v, err := parse(value)
	if err != nil {
		return v, fmt.Errorf("%s: %w", option, err)
	}
	return v, nil
}

func parseDialect(word string) (robotsrules.Dialect, error) {
	dialect, err := robotsrules.ParseDialect(word)
	if err != nil {
		return dialect, unknown(word, listDialect)
	}
	return dialect, nil
}

func parseMatch(word string) (robotsrules.Match, error) {
	match, err := robotsrules.ParseMatch(word)
	if err != nil {
		return match, unknown(word, listMatch)
	}
	return match, nil
}

// unnamed says whom the "*" record binds. The zero value is the default.
type unnamed uint8

const (
	unnamedRobots unnamed = iota
	unnamedClients
	unnamedEveryone
	unnamedNobody
)

func parseUnnamed(word string) (unnamed, error) {
	return oneOf(word, map[string]unnamed{
		"robots": unnamedRobots, "clients": unnamedClients, "everyone": unnamedEveryone, "nobody": unnamedNobody,
	}, listUnnamed)
}

// binds tells whether the "*" record binds a client of this class.
func (u unnamed) binds(c crawler.Class) bool {
	switch c {
	case crawler.Robot, crawler.Unstated:
		return u != unnamedNobody
	case crawler.App:
		return u == unnamedClients || u == unnamedEveryone
	default:
		return u == unnamedEveryone
	}
}

// action is what is done with a request that was judged against. The zero value is the
// default.
type action uint8

const (
	refuse   action = iota
	observe         // it is noted and served
	throttle        // disallowed only: it is served at a rate
	wait            // too_fast only: it is held until its time, if that is soon
)

func parseDisallowed(word string) (action, error) {
	return oneOf(word, map[string]action{"refuse": refuse, "observe": observe, "pace": throttle}, listDisallowed)
}

func parseTooFast(word string) (action, error) {
	return oneOf(word, map[string]action{"refuse": refuse, "observe": observe, "wait": wait}, listTooFast)
}

func parseOffHours(word string) (action, error) {
	return oneOf(word, map[string]action{"refuse": refuse, "observe": observe}, listOffHours)
}

func parseUnreachable(word string) (deny bool, err error) {
	return oneOf(word, map[string]bool{"allow": false, "deny": true}, listUnreachable)
}

func oneOf[T any](word string, words map[string]T, list string) (T, error) {
	v, ok := words[strings.ToLower(word)]
	if !ok {
		return v, unknown(word, list)
	}
	return v, nil
}

func unknown(word, list string) error {
	return fmt.Errorf("%q is unknown; write %s", word, list)
}
