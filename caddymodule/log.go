package caddymodule

import (
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	// linesPerSecond is how many lines of each message are logged in a second; beyond
	// it, one in a hundred. A flood of robots, or of made-up hosts, must not fill a disk.
	linesPerSecond = 100
	oneIn          = 100

	// linesTold bounds how many lines of a robots.txt one log line repeats, and how many
	// diagnostics one load logs.
	linesTold = 20
)

func sampled(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, linesPerSecond, oneIn)
	}))
}

// report tells the log what a load brought: a failure once, until it is over; a change
// with its lines; what is wrong in a text that was not met before.
func (l *loader) report(ended *load, fresh bool) {
	s, previous, rules := ended.site, ended.previous, ended.rules
	log := l.log
	if s.host != "" {
		log = log.With(zap.String("host", s.host))
	}
	l.reportFailure(log, s, ended.failure)
	switch {
	case ended.isChange():
		in, out := changedLines(previous.text, rules.text)
		log.Info("robots.txt changed", append(rules.summary(),
			zap.Int("lines_in", len(in)), zap.Int("lines_out", len(out)),
			zap.Strings("in", first(in)), zap.Strings("out", first(out)))...)
	case previous == nil && ended.isAnswer():
		level, message := zap.DebugLevel, "robots.txt loaded" // the same text as another host's
		if fresh {
			level = zap.InfoLevel
		}
		if rules.text == "" {
			message = "robots.txt is missing or empty"
		}
		log.Log(level, message, rules.summary()...)
	}
	if fresh && previous != rules {
		reportDiagnostics(log, rules.diagnostics)
	}
	if previous != rules && rules.text != "" {
		for _, path := range idleTraps(rules.policy, l.traps) {
			log.Error("this trap catches nobody: robots.txt does not disallow it to all",
				zap.String("trap", path), zap.String("instead", `write "Disallow: `+path+`" in the record for "*"`))
		}
	}
}

func (l *loader) reportFailure(log *zap.Logger, s *site, failure error) {
	if failure == nil {
		if s.failed {
			log.Info("robots.txt can be loaded again")
		}
		s.failed = false
		return
	}
	if s.failed {
		return
	}
	s.failed = true
	log.Warn("robots.txt could not be loaded; what was loaded before holds", zap.Error(failure),
		zap.Bool("loaded_before", !slices.Contains(s.documents, nil)),
		zap.Duration("next_try", l.settings.refresh))
}

func (rs *ruleset) summary() []zap.Field {
	fields := []zap.Field{
		zap.Int("octets", len(rs.text)), zap.Int("records", len(rs.file.Groups)),
		zap.Int("rules", rs.rules()), zap.Int("diagnostics", len(rs.diagnostics)),
	}
	if rs.denied != "" {
		fields = append(fields, zap.String("denied", rs.denied))
	}
	return fields
}

func reportDiagnostics(log *zap.Logger, all []robotsrules.Diagnostic) {
	told := 0
	for _, d := range all {
		level := zap.DebugLevel
		if d.Severity != robotsrules.Info {
			level = zap.WarnLevel
			told++
		}
		if told > linesTold {
			log.Warn("robots.txt has more diagnostics than are logged", zap.Int("diagnostics", len(all)))
			return
		}
		log.Log(level, "robots.txt diagnostic", zap.Int("line", d.Line),
			zap.String("what", d.Message), zap.String("instead", d.Instead))
	}
}

// changedLines returns the lines that only one of two texts has.
func changedLines(before, after string) (in, out []string) {
	counts := make(map[string]int)
	for line := range strings.Lines(before) {
		counts[strings.TrimSpace(line)]--
	}
	for line := range strings.Lines(after) {
		counts[strings.TrimSpace(line)]++
	}
	for line := range strings.Lines(after) {
		if line = strings.TrimSpace(line); counts[line] > 0 && line != "" {
			counts[line]--
			in = append(in, line)
		}
	}
	for line := range strings.Lines(before) {
		if line = strings.TrimSpace(line); counts[line] < 0 && line != "" {
			counts[line]++
			out = append(out, line)
		}
	}
	return in, out
}

// first returns as many lines as one log line repeats, none of them long.
func first(lines []string) []string {
	lines = lines[:min(len(lines), linesTold)]
	for i, line := range lines {
		lines[i] = line[:min(len(line), 200)]
	}
	return lines
}
