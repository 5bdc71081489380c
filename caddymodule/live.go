package caddymodule

import (
	"slices"
	"sync"
)

// live are the handlers that are in use: those of the config that runs and, during a reload,
// of the one before. It is safe for concurrent use.
type live struct {
	mu       sync.Mutex // guards handlers
	handlers []*Handler // the newest last
}

// add adds a handler until leave is called.
func (l *live) add(h *Handler) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handlers = append(l.handlers, h)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.handlers = slices.DeleteFunc(l.handlers, func(other *Handler) bool { return other == h })
	}
}

// all returns the handlers, the newest first: where two have the same host, it is the first
// one's.
func (l *live) all() []*Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.handlers)
	slices.Reverse(all)
	return all
}

// handlers returns the handlers that are in use, the newest first.
func (sh *shared) handlers() []*Handler { return sh.live.all() }
