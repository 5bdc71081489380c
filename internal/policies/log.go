package policies

import (
	"cmp"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// maxLogged bounds how many lines of a robots.txt one log line repeats, and how many diagnostics
// one load logs.
const maxLogged = 20

// Result is how the load of a robots.txt ended. The zero value is Unchanged.
type Result uint8

// The results.
const (
	Unchanged Result = iota
	Changed
	Failed
)

// Results is how many results there are.
const Results = int(Failed) + 1

// String returns the result's word.
func (r Result) String() string { return [Results]string{"unchanged", "changed", "failed"}[r] }

// Load is the end of a load of robots.txt. It does not change.
type Load struct {
	Host     string // "" where the rules are the same for every host
	Previous *Rules // what held before; nil if nothing did
	Rules    *Rules // what holds now
	Failure  error  // why a source gave no answer; nil if each did
	Status   int    // the 4xx by which a source said that it has no rules; 0 if none did

	answered bool // a source has given an answer, now or before
}

// Result sums the load up. The first one that goes well is a change.
func (l *Load) Result() Result {
	switch {
	case l.Failure != nil:
		return Failed
	case l.Previous == l.Rules:
		return Unchanged
	default:
		return Changed
	}
}

// IsChange reports whether other rules took the place of those that were in force.
func (l *Load) IsChange() bool {
	return l.Previous != nil && l.Previous != l.Rules && l.answered
}

// IsLost reports whether a 4xx took away rules that were in force.
func (l *Load) IsLost() bool {
	return l.IsChange() && l.Status != 0 && l.Rules.RuleCount() < l.Previous.RuleCount()
}

// ChangedLines returns the lines that only the new text has, and those that only the old one had.
func (l *Load) ChangedLines() (in, out []string) {
	return onlyIn(l.Rules.Text, l.Previous.Text), onlyIn(l.Previous.Text, l.Rules.Text)
}

// report writes to the log what a load brought: a failure once, until it is over; a change with
// its lines; what is wrong in a text that is new.
func (l *Loader) report(s *Site, ended *Load, fresh bool) {
	previous, rules := ended.Previous, ended.Rules
	log := l.cfg.Log
	if s.host != "" {
		log = log.With(zap.String("host", s.host))
	}
	l.reportFailure(log, s, ended.Failure)
	reportRefusal(log, s)
	if ended.Status != 0 {
		log = log.With(zap.Int("status", ended.Status), zap.String("user_agent", FetcherName))
	}
	switch {
	case ended.IsChange():
		in, out := ended.ChangedLines()
		fields := append(rules.summary(), zap.Int("lines_in", len(in)), zap.Int("lines_out", len(out)),
			zap.Strings("in", shortened(in)), zap.Strings("out", shortened(out)))
		if ended.IsLost() {
			log.Warn("robots.txt is refused or gone; its rules do not hold any more", fields...)
		} else {
			log.Info("robots.txt changed", fields...)
		}
	case previous == nil && ended.answered:
		level, message := zap.DebugLevel, "robots.txt loaded" // the same text as another host's
		if fresh {
			level = zap.InfoLevel
		}
		if rules.Text == "" {
			message = "robots.txt is missing or empty"
		}
		log.Log(level, message, rules.summary()...)
	}
	if fresh && previous != rules {
		reportDiagnostics(log, slices.Concat(rules.Diagnostics, DressedAsBrowsers(rules.File, l.cfg.Options)))
		for _, unread := range UnreadDelays(rules.Compiled, l.cfg.Options) {
			d := unread.Diagnostic()
			log.Warn("a Crawl-delay holds robots that do not read it", zap.Int("line", d.Line), zap.Strings("robots", unread.Robots),
				zap.String("what", d.Message), zap.String("instead", d.Instead))
		}
	}
	if previous != rules && rules.Text != "" {
		for _, path := range IdleTraps(rules.Compiled, l.cfg.Options.Trap) {
			log.Error("this trap catches nobody: robots.txt does not disallow it to all",
				zap.String("trap", path), zap.String("instead", `write "Disallow: `+path+`" in the record for "*"`))
		}
	}
}

func (l *Loader) reportFailure(log *zap.Logger, s *Site, failure error) {
	wasFailing := s.failed
	s.failed = failure != nil
	switch {
	case wasFailing && !s.failed:
		log.Info("robots.txt can be loaded again")
	case s.failed && !wasFailing && s.everLoadedWell():
		log.Warn("robots.txt could not be loaded; what was loaded before holds", zap.Error(failure),
			zap.Duration("next_try", l.cfg.Refresh))
	case s.failed && !wasFailing:
		log.Warn("robots.txt could not be loaded, and nothing of it was loaded before", zap.Error(failure),
			zap.String("holds", l.holds(s)), zap.Duration("next_try", l.cfg.Refresh))
	}
}

// reportRefusal says how far a site refuses its robots.txt, once until that is over.
func reportRefusal(log *zap.Logger, s *Site) {
	doc := s.documents[0] // there is no other source besides this site's own robots.txt
	if doc == nil || doc.refused == s.refused {
		return
	}
	s.refused = doc.refused
	fields := []zap.Field{
		zap.Int("status", cmp.Or(doc.refusedStatus, doc.Status)), zap.String("user_agent", FetcherName),
		zap.String("instead", "let GET /robots.txt from 127.0.0.1 pass what refuses it, such as a firewall or a login"),
	}
	switch s.refused {
	case refusedToUs:
		log.Warn("the site refuses robots.txt to Caddy's own fetch; the text that visitors get holds", fields...)
	case refusedToAll:
		log.Warn("the site refuses robots.txt to visitors too; nothing is disallowed by it", fields...)
	}
}

// holds says which rules are in force for a site of which a source has given nothing yet.
func (l *Loader) holds(s *Site) string {
	switch {
	case slices.ContainsFunc(s.documents, (*Document).isKnown):
		return "the other sources"
	case !s.everLoaded() && l.cfg.DenyUnknown:
		return "unreachable deny: all robots are kept out"
	default:
		return "no rules: all robots are let through"
	}
}

func (rs *Rules) summary() []zap.Field {
	fields := []zap.Field{
		zap.Int("bytes", len(rs.Text)), zap.Int("records", len(rs.File.Groups)),
		zap.Int("rules", rs.RuleCount()), zap.Int("diagnostics", len(rs.Diagnostics)),
	}
	if rs.Denied != "" {
		fields = append(fields, zap.String("denied", rs.Denied))
	}
	return fields
}

func reportDiagnostics(log *zap.Logger, all []robotsrules.Diagnostic) {
	logged := 0
	for _, d := range all {
		level := zap.DebugLevel
		if d.Severity != robotsrules.Info {
			level = zap.WarnLevel
			logged++
		}
		if logged > maxLogged {
			log.Warn("robots.txt has more diagnostics than are logged", zap.Int("diagnostics", len(all)))
			return
		}
		log.Log(level, "robots.txt diagnostic", zap.Int("line", d.Line),
			zap.String("what", d.Message), zap.String("instead", d.Instead))
	}
}

// IdleTraps returns the trap paths that the rules do not keep from all robots.
func IdleTraps(compiled *robotsrules.Policy, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return !compiled.Default().Decide(path).Allowed()
	})
}

// onlyIn returns the lines of a text, without space around them, that another has not, or not as
// often.
func onlyIn(text, other string) (lines []string) {
	more := make(map[string]int)
	for line := range strings.Lines(other) {
		more[strings.TrimSpace(line)]--
	}
	for line := range strings.Lines(text) {
		more[strings.TrimSpace(line)]++
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); more[line] > 0 && line != "" {
			more[line]--
			lines = append(lines, line)
		}
	}
	return lines
}

// shortened returns as many lines as one log line repeats, none of them long.
func shortened(lines []string) []string {
	lines = lines[:min(len(lines), maxLogged)]
	for i, line := range lines {
		lines[i] = line[:min(len(line), 200)]
	}
	return lines
}

// IdleTrapsOf is IdleTraps for sources whose texts are all known; it returns none where one has
// to be loaded first.
func IdleTrapsOf(sources []Source, paths []string, reading robotsrules.Options, match robotsrules.Match) []string {
	var parts []robotsrules.Part
	for _, src := range sources {
		if src.Text == "" {
			return nil
		}
		parts = append(parts, robotsrules.Part{Text: src.Text, OnlyDisallowAll: src.OnlyDisallowAll})
	}
	if len(parts) == 0 {
		return nil
	}
	text, _ := robotsrules.Join(parts, reading)
	return IdleTraps(robotsrules.Compile(robotsrules.ParseString(text, whole(reading, text)), match), paths)
}
