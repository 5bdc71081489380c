package policies

import (
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Policy is what holds for a host, from the time when its rules came into force until the next
// change, together with the previous rules. It does not change.
type Policy struct {
	enforce.Policy
	Rules     *Rules
	Forbidden bool      // robots.txt was answered 401 or 403
	Since     time.Time // when this text came into force
	Modified  time.Time // the same for Last-Modified: in seconds, later than that of any policy before

	previous *Document // the text of enforce.Policy.Previous
	before   *Rules    // its rules
}

// Summary has the figures of a policy that are shown. They stay when its rules are put away. It
// does not change.
type Summary struct {
	Version, Denied string
	Bytes           int
	Records, Rules  int
	Diagnostics     [robotsrules.Error + 1]int // by severity
	Since           time.Time                  // when this text came into force
	Loaded          bool                       // false: no source gave an answer yet
}

// summary returns what is shown of the policy.
func (p *Policy) summary() *Summary {
	if p == nil {
		return nil
	}
	rules := p.Rules
	return &Summary{
		Version: rules.Version, Denied: rules.Denied, Bytes: len(rules.Text), Records: len(rules.File.Groups),
		Rules: rules.RuleCount(), Diagnostics: rules.SeverityCounts(), Since: p.Since, Loaded: p.Loaded,
	}
}

// String says for a person what there is.
func (s *Summary) String() string {
	if s.Bytes == 0 {
		return "no robots.txt, or an empty one: no rules"
	}
	return counted(s.Rules, "rule") + " in " + counted(s.Records, "record") + ", " + counted(s.Bytes, "byte")
}

// counted returns a number of things, as one says it.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// of reports whether the summary is that of a policy, which may be nil.
func (s *Summary) of(p *Policy) bool {
	return p != nil && s.Version == p.Rules.Version && s.Denied == p.Rules.Denied && s.Since.Equal(p.Since) && s.Loaded == p.Loaded
}

// rules returns the rules of a policy, nil where there is none.
func (p *Policy) rules() *Rules {
	if p == nil {
		return nil
	}
	return p.Rules
}

// document returns the text that robots got, however the config reads it.
func (p *Policy) document() *Document {
	return &Document{Text: p.Rules.Text, Forbidden: p.Forbidden, Since: p.Since}
}

// allRules returns the rules that the policy, which may be nil, holds.
func (p *Policy) allRules() (all []*Rules) {
	if p == nil {
		return nil
	}
	if p.before != nil && p.before != p.Rules {
		all = append(all, p.before)
	}
	return append(all, p.Rules)
}

// remembered is the part of a policy that survives a reload of the config.
type remembered struct {
	current  *Document
	previous *Document // nil if nothing is known to have held before
	modified time.Time
}

// nextPolicy returns the policy of a site that follows the one in force, with these rules. If only
// the config reads the same text in another way, the text has not changed for robots.
func (l *Loader) nextPolicy(s *Site, rules *Rules) *Policy {
	next := &Policy{Policy: enforce.Policy{Rules: &rules.Rules, Loaded: s.everLoaded()}, Rules: rules, Forbidden: l.isForbidden(s)}
	if !next.Loaded {
		return next
	}
	key := l.Key(s.host)
	before := s.policy.Load()
	if before == nil || !before.Loaded {
		before = l.recallPolicy(s, key)
	}
	if before != nil && sameRules(before.document(), next.document()) {
		next.Since, next.Modified, next.Previous = before.Since, before.Modified, before.Previous
		next.previous, next.before = before.previous, before.before
	} else {
		now := l.cfg.Now()
		next.Since, next.Modified = now, now.Truncate(time.Second)
		if before != nil {
			if least := before.Modified.Add(time.Second); next.Modified.Before(least) {
				next.Modified = least
			}
			next.setPrevious(before.document(), before.Rules, now)
		}
	}
	l.remember(s, key, next)
	return next
}

// isForbidden reports whether a source that can bind all robots was answered 401 or 403.
func (l *Loader) isForbidden(s *Site) bool {
	for i, doc := range s.documents {
		if doc != nil && doc.Forbidden && !l.cfg.Sources[i].OnlyDisallowAll {
			return true
		}
	}
	return false
}

// Key is the same for sites of any loader that have the same sources and, where that matters, the
// same host. It is "" where that cannot be known yet.
func (l *Loader) Key(host string) string {
	var b strings.Builder
	for _, src := range l.cfg.Sources {
		key := l.documentKey(src, host)
		if key == "" {
			return ""
		}
		b.WriteString(key)
		b.WriteByte(0)
		if src.OnlyDisallowAll {
			b.WriteString("limited\x00")
		}
	}
	return b.String()
}

// recallPolicy returns the policy that was in force before a reload, read as the new config says;
// nil if there was none.
func (l *Loader) recallPolicy(s *Site, key string) *Policy {
	r, ok := l.cache.hosts.remembered(s.record, key)
	if !ok {
		return nil
	}
	rules := l.read(r.current)
	p := &Policy{
		Policy: enforce.Policy{Rules: &rules.Rules, Loaded: true}, Rules: rules, Forbidden: r.current.Forbidden,
		Since: r.current.Since, Modified: r.modified,
	}
	if r.previous != nil {
		p.setPrevious(r.previous, l.read(r.previous), p.Since)
	}
	return p
}

// setPrevious sets what held before the policy, and until when.
func (p *Policy) setPrevious(doc *Document, rules *Rules, until time.Time) {
	p.previous, p.before, p.Previous = doc, rules, &enforce.Previous{Rules: &rules.Rules, Until: until}
}

// read compiles what robots were given.
func (l *Loader) read(doc *Document) *Rules {
	return l.cache.Compile(*doc, whole(l.cfg.Reading, doc.Text), l.cfg.Match)
}

// remember keeps a policy for the loaders that come after this one, unless this one is gone
// itself.
func (l *Loader) remember(s *Site, key string, p *Policy) {
	if key != "" && l.life.Err() == nil {
		l.cache.hosts.remember(s.record, key, &remembered{p.document(), p.previous, p.Modified})
	}
}
