package caddymodule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	defaultRefresh = time.Minute
	defaultTrapFor = 24 * time.Hour
	minRefresh     = time.Second // less would make the refresh a load of its own
	maxMaxSize     = 16 << 20
	maxGrace       = 30 * 24 * time.Hour
	maxBan         = 366 * 24 * time.Hour // of both times of a ban
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
	listPurposes    = "search, ai-training, ai-search, ai-user, archive, seo, ads, preview, feed, monitor, service, research or security"
)

// settings is what the options of a Handler mean, with the defaults filled in. It does not
// change after it was made.
type settings struct {
	enforce.Options
	reading     robotsrules.Options
	match       robotsrules.Match
	refresh     time.Duration
	denyUnknown bool          // unreachable deny
	maxWait     time.Duration // too_fast wait
	serve       bool
	announce    policies.Statements

	// browsersToo says that browsers are not passed on at once: they may be bound, be robots at
	// a second look, be answered with the rules, or have statements announced.
	browsersToo bool

	// needsScheme says that somebody asks for the scheme of a request.
	needsScheme bool
}

// readOptions gives the meaning of h's options, or an error that says which one is wrong and
// what to write instead. It depends on nothing else.
func (h *Handler) readOptions() (settings, error) {
	s := settings{refresh: time.Duration(h.Refresh), serve: h.Serve, maxWait: time.Duration(h.MaxWait)}
	s.Observe, s.Grace, s.TrapFor = h.Observe, time.Duration(h.Grace), time.Duration(h.TrapFor)
	s.TreatAsRobot, s.Trap = h.TreatAsRobot, h.Trap
	s.Signatures = h.Verify.signatures()
	s.reading.MaxBytes = robotsrules.DefaultMaxBytes
	if h.MaxSize != 0 {
		s.reading.MaxBytes = int(h.MaxSize)
	}
	if s.refresh == 0 {
		s.refresh = defaultRefresh
	}
	if s.TrapFor == 0 {
		s.TrapFor = defaultTrapFor
	}
	err := errors.Join(
		checkKinds("exempt", h.Exempt),
		checkKinds("unpaced", h.Unpaced),
		choose(&s.reading.Dialect, "dialect", h.Dialect, robotsrules.ParseDialect, listDialect),
		choose(&s.match, "match", h.Match, robotsrules.ParseMatch, listMatch),
		chooseWord(&s.Unnamed, "unnamed", h.Unnamed, unnamedWords, listUnnamed),
		chooseWord(&s.Disallowed, "disallowed", h.Disallowed, disallowedWords, listDisallowed),
		chooseWord(&s.TooFast, "too_fast", h.TooFast, tooFastWords, listTooFast),
		chooseWord(&s.OffHours, "off_hours", h.OffHours, offHoursWords, listOffHours),
		chooseWord(&s.denyUnknown, "unreachable", h.Unreachable, unreachableWords, listUnreachable),
		checkSources(h.Sources),
		checkTrap(h.Trap, h.TrapFor),
		checkTexts("treat_as_robot", h.TreatAsRobot),
		chooseWord(&s.Impostors, "impostors", h.Impostors, impostorsWords, listImpostors),
		chooseRate(&s.DefaultPace, "default_pace", h.DefaultPace),
		chooseRate(&s.DisallowedPace, "disallowed pace", h.DisallowedPace),
	)
	if err == nil {
		err = readLimits(h, &s)
	}
	if err != nil {
		return settings{}, err
	}
	s.browsersToo = len(h.Trap) > 0 || len(h.TreatAsRobot) > 0 || s.Signatures || s.serve || s.announce != 0 || s.Unnamed.Binds(crawler.Browser)
	s.needsScheme = s.Signatures || len(h.Trap) > 0 || s.announce&policies.TimeGates != 0
	return s, nil
}

// written returns a duration as a Caddyfile has it: 24h, and not 24h0m0s.
func written(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// readLimits reads the options that have bounds.
func readLimits(h *Handler, s *settings) (err error) {
	if s.maxWait < 0 || s.maxWait > ratelimit.MaxWait {
		return fmt.Errorf("too_fast wait: %s: write a duration up to %s", written(s.maxWait), written(ratelimit.MaxWait))
	}
	if s.Ban, err = h.Ban.policy(); err != nil {
		return err
	}
	if s.ClientPrefix, err = h.ClientPrefix.prefix(); err != nil {
		return err
	}
	if s.Grace < 0 || s.Grace > maxGrace {
		return fmt.Errorf("grace %s: write a duration up to 30d", written(s.Grace))
	}
	if s.announce, err = parseAnnounce(h.Announce); err != nil {
		return err
	}
	if s.Exempt, err = enforce.ParseExemptions(h.Exempt, caddyhttp.PrivateRangesCIDR()); err != nil {
		return err
	}
	if s.Unpaced, err = enforce.ParseUnpaced(h.Unpaced, listPurposes); err != nil {
		return err
	}
	if s.refresh < minRefresh || s.refresh > policies.MaxRefresh {
		return fmt.Errorf("refresh %s: write a duration from %s to %s", written(s.refresh), written(minRefresh), written(policies.MaxRefresh))
	}
	if h.MaxSize < 0 || h.MaxSize > maxMaxSize {
		return fmt.Errorf("max_size %d: write a size from 1B to 16MiB", h.MaxSize)
	}
	return nil
}

func checkSources(sources []policies.Source) error {
	for i, src := range sources {
		if err := src.Check(); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
	}
	return nil
}

func checkTrap(paths []string, trapFor caddy.Duration) error {
	for _, path := range paths {
		if !strings.HasPrefix(path, "/") || path == "/" || strings.ContainsAny(path, "*?#") {
			return fmt.Errorf("trap: %q is not a path that can be a trap; write one such as /trap/ or /private/do-not-fetch.html", path)
		}
	}
	if trapFor < 0 {
		return fmt.Errorf("trap: for %s: write a duration such as 24h", written(time.Duration(trapFor)))
	}
	return nil
}

// checkKinds returns an error for words by which a kind of robots is meant that there is not, or that
// an option cannot speak of.
func checkKinds(option string, words []string) error {
	for _, word := range words {
		if option == "exempt" && word != strings.ToLower(word) {
			continue // a text
		}
		_, isStanding := standings[strings.ToLower(word)]
		if isStanding && !strings.EqualFold(word, enforce.Verified.String()) {
			return fmt.Errorf("%s: %q is for clients that lie or disobey; write verified, or a purpose: %s", option, word, listPurposes)
		}
		if err := misspelt(word); err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
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

// checkTogether returns an error for options that make no sense together; s is what they mean.
func (h *Handler) checkTogether(s settings) error {
	if err := h.Verify.check(h.Impostors); err != nil {
		return err
	}
	if h.Verify == nil && (s.Exempt.Verified || s.Unpaced.Verified) {
		return errors.New("exempt verified and unpaced verified need verify: without it nobody is verified; write verify known")
	}
	for _, path := range policies.IdleTrapsOf(h.Sources, h.Trap, s.reading, s.match) {
		return fmt.Errorf("trap: the rules do not disallow %q to all, so it would catch nobody; "+
			"write \"Disallow: %s\" in the record for \"*\"", path, path)
	}
	switch {
	case s.Disallowed == enforce.Pace && h.DisallowedPace == "":
		return errors.New("disallowed pace: write the rate too, such as disallowed pace 1/1m")
	case s.Disallowed != enforce.Pace && h.DisallowedPace != "":
		return errors.New("disallowed_pace is for disallowed pace; write disallowed pace, or remove disallowed_pace")
	case s.TooFast == enforce.Wait && s.maxWait == 0:
		return errors.New("too_fast wait: write how long at the most, such as too_fast wait 10s")
	case s.TooFast != enforce.Wait && s.maxWait != 0:
		return errors.New("max_wait is for too_fast wait; write too_fast wait, or remove max_wait")
	case h.Ban != nil && s.Disallowed != enforce.Refuse && s.TooFast == enforce.Observe && s.Impostors != enforce.ImpostorsRefuse:
		return errors.New("ban: nothing is refused that would count towards it; remove ban, or write disallowed refuse or too_fast refuse")
	case h.Serve && len(h.Sources) == 0:
		return errors.New("serve needs a source: without one the rules are what this site already serves at /robots.txt; " +
			"remove serve, or add source file, source url or source text")
	}
	return nil
}

// listAnnounce is what may be announced, for a person.
const listAnnounce = "timegate, content_usage, noindex, sitemap or license"

// parseAnnounce reads which statements of robots.txt are repeated as response headers.
func parseAnnounce(words []string) (all policies.Statements, err error) {
	for _, word := range words {
		one, err := oneOf(word, map[string]policies.Statements{
			"timegate": policies.TimeGates, "content_usage": policies.ContentUsage, "noindex": policies.Noindex,
			"sitemap": policies.Sitemaps, "license": policies.Licenses,
		}, listAnnounce)
		if err != nil {
			return 0, fmt.Errorf("announce: %w", err)
		}
		if all&one != 0 {
			return 0, fmt.Errorf("announce: %q is there twice; write it once", word)
		}
		all |= one
	}
	return all, nil
}

// Ban says when a robot is banned and for how long: after a number of disobedient requests within a
// time. A request is disobedient if it is refused as disallowed, too fast, or as an impostor's.
type Ban struct {
	// How many disobedient requests, from 1 to 1000. Required, no default.
	Offences int `json:"offences"`

	// The time within which they come, from 1s to 366d. Required, no default.
	Within caddy.Duration `json:"within"`

	// How long the robot is refused, from 1s to 366d. Required, no default.
	For caddy.Duration `json:"for"`
}

// policy returns what the option means, nil if it is not set.
func (b *Ban) policy() (*ratelimit.BanPolicy, error) {
	if b == nil {
		return nil, nil
	}
	p := &ratelimit.BanPolicy{Offences: b.Offences, Within: time.Duration(b.Within), For: time.Duration(b.For)}
	if p.Offences < 1 || p.Offences > ratelimit.MaxOffences {
		return nil, fmt.Errorf("ban: %d disobedient requests: write a number from 1 to %d", p.Offences, ratelimit.MaxOffences)
	}
	for _, d := range []time.Duration{p.Within, p.For} {
		if d < time.Second || d > maxBan {
			return nil, fmt.Errorf("ban: %s: write a duration from 1s to 366d", written(d))
		}
	}
	return p, nil
}

// ClientPrefix is how many bits of an address are one client's. Without it they are 32 and 64.
type ClientPrefix struct {
	// Bits of an address of IPv4, from 8 to 32. Required, no default.
	V4 int `json:"v4"`

	// Bits of an address of IPv6, from 16 to 128. Required, no default.
	V6 int `json:"v6"`
}

// prefix returns what the option means.
func (p *ClientPrefix) prefix() (enforce.ClientPrefix, error) {
	switch {
	case p == nil:
		return enforce.ClientPrefix{}, nil
	case p.V4 < 8 || p.V4 > 32:
		return enforce.ClientPrefix{}, fmt.Errorf("client_prefix: %d bits of IPv4: write a number from 8 to 32", p.V4)
	case p.V6 < 16 || p.V6 > 128:
		return enforce.ClientPrefix{}, fmt.Errorf("client_prefix: %d bits of IPv6: write a number from 16 to 128", p.V6)
	}
	return enforce.ClientPrefix{V4: p.V4, V6: p.V6}, nil
}

// The words of the options.
var (
	unnamedWords = map[string]enforce.Unnamed{
		"robots": enforce.UnnamedRobots, "clients": enforce.UnnamedClients,
		"everyone": enforce.UnnamedEveryone, "nobody": enforce.UnnamedNobody,
	}
	disallowedWords  = map[string]enforce.Action{"refuse": enforce.Refuse, "observe": enforce.Observe, "pace": enforce.Pace}
	tooFastWords     = map[string]enforce.Action{"refuse": enforce.Refuse, "observe": enforce.Observe, "wait": enforce.Wait}
	offHoursWords    = map[string]enforce.Action{"refuse": enforce.Refuse, "observe": enforce.Observe}
	unreachableWords = map[string]bool{"allow": false, "deny": true}
	impostorsWords   = map[string]enforce.Impostors{
		"unnamed": enforce.ImpostorsUnnamed, "refuse": enforce.ImpostorsRefuse, "observe": enforce.ImpostorsObserve,
	}
)

// choose reads one word of an option; without one v stays the default.
func choose[T any](v *T, option, word string, parse func(string) (T, error), list string) error {
	if word == "" {
		return nil
	}
	parsed, err := parse(word)
	if err != nil {
		return fmt.Errorf("%s: %w", option, robotsrules.UnknownWord(word, list))
	}
	*v = parsed
	return nil
}

// chooseWord is choose for one of some words.
func chooseWord[T any](v *T, option, word string, words map[string]T, list string) error {
	return choose(v, option, word, func(word string) (T, error) { return oneOf(word, words, list) }, list)
}

// chooseRate reads the rate of an option, the zero value where it is not set.
func chooseRate(v *robotsrules.Rate, option, text string) error {
	if text == "" {
		return nil
	}
	rate, ok := robotsrules.ParseRate(text)
	if !ok {
		return fmt.Errorf("%s: %q is not a rate; write documents/time as in Request-rate, such as 1/10s or 10/1m", option, text)
	}
	rate.Text = option + " " + text // as it is told to a robot
	*v = rate
	return nil
}

func oneOf[T any](word string, words map[string]T, list string) (T, error) {
	v, ok := words[strings.ToLower(word)]
	if !ok {
		return v, robotsrules.UnknownWord(word, list)
	}
	return v, nil
}
