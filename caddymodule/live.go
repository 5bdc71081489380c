package caddymodule

import (
	"slices"
	"sync"
)

// live are the handlers of this process that are provisioned. During a config reload there
// are those of both configs, and those of a config that is refused come and go. It is safe
// for concurrent use. The zero live is empty.
type live struct {
	mu       sync.Mutex // guards handlers
	handlers []*Handler // the oldest first
}

// add adds a handler, until remove is called.
func (l *live) add(h *Handler) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handlers = append(l.handlers, h)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.handlers = slices.DeleteFunc(l.handlers, func(other *Handler) bool { return other == h })
	}
}

// handlers returns those that are provisioned, the newest first: of two that know the rules
// of a host, the first one's are in force, or soon will be.
func (sh *shared) handlers() []*Handler {
	sh.live.mu.Lock()
	defer sh.live.mu.Unlock()
	handlers := slices.Clone(sh.live.handlers)
	slices.Reverse(handlers)
	return handlers
}
