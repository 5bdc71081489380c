package caddymodule

import (
	"context"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

// startedEvent is what Caddy emits when all apps of a config have started. From then on
// nothing in the config changes.
const startedEvent = "started"

// start holds what has to wait until Caddy has started: what looks at other parts of the
// config, which are provisioned at the same time. It is safe for concurrent use. The zero
// start has not happened.
type start struct {
	mu      sync.Mutex // guards the fields below
	over    bool
	waiting []func()
}

// then calls f once Caddy has started: at once, if it has. What was to be called before is
// over by then.
func (s *start) then(f func()) {
	s.mu.Lock()
	if !s.over {
		if len(s.waiting) < maxHosts { // one each, should a config never start
			s.waiting = append(s.waiting, f)
		}
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	f()
}

// Handle implements caddyevents.Handler: it is told that Caddy has started.
func (s *start) Handle(context.Context, caddy.Event) error {
	for {
		waiting := s.next()
		if waiting == nil {
			return nil
		}
		for _, f := range waiting {
			f()
		}
	}
}

// next returns what is to be called. When there is nothing left, the waiting is over.
func (s *start) next() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.over, s.waiting = waiting == nil, nil
	return waiting
}

// Interface guard
var _ caddyevents.Handler = (*start)(nil)
