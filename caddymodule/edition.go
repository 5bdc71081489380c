package caddymodule

import (
	"strings"
	"time"
)

// edition is the rules of a site from when they came into force until others do, with what
// held before. It does not change.
type edition struct {
	*ruleset
	forbidden bool      // robots.txt was answered 401 or 403
	loaded    bool      // false: no source gave an answer yet
	since     time.Time // when this text came into force
	modified  time.Time // the same for Last-Modified: in seconds, later than that of any edition before
	earlier   *earlier  // nil if nothing is known to have held before
}

// earlier is what held before an edition. Of changes in quick succession it is the last.
type earlier struct {
	rules     *ruleset
	forbidden bool
	changed   time.Time // when it ceased to hold
}

// held returns the rules of an edition, nil where there is none.
func (e *edition) held() *ruleset {
	if e == nil {
		return nil
	}
	return e.ruleset
}

// says tells whether both told robots the same. Other settings, which read a text in
// another way, make no other text.
func (e *edition) says(other *edition) bool {
	return e.text == other.text && e.forbidden == other.forbidden
}

// wording is what robots were told, without what config makes of it.
type wording struct {
	text      string
	forbidden bool
}

// past is of an edition what outlives a reload of the config.
type past struct {
	wording
	since    time.Time
	modified time.Time
	before   *wording // nil if nothing is known to have held before
}

// edition returns the next edition of s, with these rules.
func (l *loader) edition(s *site, rules *ruleset) *edition {
	next := &edition{ruleset: rules, loaded: s.everLoaded(), forbidden: l.forbidden(s)}
	if !next.loaded {
		return next
	}
	key := l.siteKey(s.host)
	before := s.current.Load()
	if before == nil || !before.loaded {
		before = l.remembered(key)
	}
	now := l.now()
	switch {
	case before == nil:
		next.since, next.modified = now, now.Truncate(time.Second)
	case before.says(next):
		next.since, next.modified, next.earlier = before.since, before.modified, before.earlier
	default:
		next.since, next.modified = now, now.Truncate(time.Second)
		if least := before.modified.Add(time.Second); next.modified.Before(least) {
			next.modified = least
		}
		next.earlier = &earlier{rules: before.ruleset, forbidden: before.forbidden, changed: now}
	}
	l.remember(key, next)
	return next
}

// forbidden tells whether a source was answered 401 or 403 that has a say in what all robots
// may do.
func (l *loader) forbidden(s *site) bool {
	for i, doc := range s.documents {
		if doc != nil && doc.forbidden && !l.parts[i].limited {
			return true
		}
	}
	return false
}

// siteKey is under which the history of a site is kept: the same sources, and the same
// host where that matters. It is "" where that cannot be told yet.
func (l *loader) siteKey(host string) string {
	var b strings.Builder
	for _, p := range l.parts {
		key := p.key(host)
		if key == "" {
			return ""
		}
		b.WriteString(key)
		b.WriteByte(0)
		if p.limited {
			b.WriteString("limited\x00")
		}
	}
	return b.String()
}

// remembered returns what was in force before a reload of the config, read as the settings
// now say; nil if there was nothing.
func (l *loader) remembered(key string) *edition {
	p, ok := l.shared.history.get(key)
	if !ok {
		return nil
	}
	e := &edition{ruleset: l.read(p.wording), forbidden: p.forbidden, loaded: true, since: p.since, modified: p.modified}
	if p.before != nil {
		e.earlier = &earlier{rules: l.read(*p.before), forbidden: p.before.forbidden, changed: p.since}
	}
	return e
}

// read compiles what robots were told.
func (l *loader) read(w wording) *ruleset {
	rules, _ := l.shared.library.compile(w.text, l.settings.deniedBy(&document{forbidden: w.forbidden}), l.settings.whole(w.text))
	return rules
}

// remember keeps an edition for the handlers that come after this one, unless this one is
// gone itself.
func (l *loader) remember(key string, e *edition) {
	if key == "" || l.life.Err() != nil {
		return
	}
	p := &past{wording: wording{e.text, e.forbidden}, since: e.since, modified: e.modified}
	weight := len(e.text)
	if e.earlier != nil {
		p.before = &wording{e.earlier.rules.text, e.earlier.forbidden}
		weight += len(p.before.text)
	}
	l.shared.history.put(key, p, int64(weight))
}
