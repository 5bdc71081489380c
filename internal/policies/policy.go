package policies

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// Policy is what holds for a host from when its rules came into force until others do, with what
// held before. It does not change.
type Policy struct {
	enforce.Policy
	Rules     *Rules
	Forbidden bool      // robots.txt was answered 401 or 403
	Loaded    bool      // false: no source gave an answer yet
	Since     time.Time // when this text came into force
	Modified  time.Time // the same for Last-Modified: in seconds, later than that of any policy before

	previous *Document // the text of enforce.Policy.Previous
}

// rules returns the rules of a policy, nil where there is none.
func (p *Policy) rules() *Rules {
	if p == nil {
		return nil
	}
	return p.Rules
}

// document returns what robots were given, without what the config makes of it.
func (p *Policy) document() *Document {
	return &Document{Text: p.Rules.Text, Forbidden: p.Forbidden, Since: p.Since}
}

// weight is how many bytes of text the policy holds.
func (p *Policy) weight() int64 {
	weight := len(p.Rules.Text)
	if p.previous != nil {
		weight += len(p.previous.Text)
	}
	return int64(weight)
}

// remembered is the part of a policy that survives a reload of the config.
type remembered struct {
	current  *Document
	previous *Document // nil if nothing is known to have held before
	modified time.Time
}

// nextPolicy returns the policy of a site that follows the one in force, with these rules. Where
// only the config reads the same text in another way, nothing new was said to robots.
func (l *Loader) nextPolicy(s *Site, rules *Rules) *Policy {
	next := &Policy{Policy: enforce.Policy{Rules: &rules.Rules}, Rules: rules, Loaded: s.everLoaded(), Forbidden: l.isForbidden(s)}
	if !next.Loaded {
		return next
	}
	key := l.Key(s.host)
	before := s.policy.Load()
	if before == nil || !before.Loaded {
		before = l.recallPolicy(key)
	}
	if before != nil && sameRules(before.document(), next.document()) {
		next.Since, next.Modified, next.Previous, next.previous = before.Since, before.Modified, before.Previous, before.previous
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
	l.remember(key, next)
	return next
}

// isForbidden reports whether a source was answered 401 or 403 that has a say in what all robots
// may do.
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

// recallPolicy returns what was in force before a reload of the config, read as the config now
// says; nil if there was nothing.
func (l *Loader) recallPolicy(key string) *Policy {
	r, ok := l.cache.history.get(key)
	if !ok {
		return nil
	}
	rules := l.read(r.current)
	p := &Policy{
		Policy: enforce.Policy{Rules: &rules.Rules}, Rules: rules, Forbidden: r.current.Forbidden, Loaded: true,
		Since: r.current.Since, Modified: r.modified,
	}
	if r.previous != nil {
		p.setPrevious(r.previous, l.read(r.previous), p.Since)
	}
	return p
}

// setPrevious sets what held before the policy, and until when.
func (p *Policy) setPrevious(doc *Document, rules *Rules, until time.Time) {
	p.previous, p.Previous = doc, &enforce.Previous{Rules: &rules.Rules, Until: until}
}

// read compiles what robots were given.
func (l *Loader) read(doc *Document) *Rules {
	return l.cache.Compile(*doc, whole(l.cfg.Reading, doc.Text), l.cfg.Match)
}

// remember keeps a policy for the loaders that come after this one, unless this one is gone
// itself.
func (l *Loader) remember(key string, p *Policy) {
	if key != "" && l.life.Err() == nil {
		l.cache.history.put(key, &remembered{p.document(), p.previous, p.Modified}, p.weight())
	}
}
