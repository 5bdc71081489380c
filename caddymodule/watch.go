package caddymodule

import (
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// watched is what metrics and events need of a handler.
type watched struct {
	start  start
	places atomic.Pointer[places] // nil until Caddy has started or a request came
	events events
}

// beWatched lets metrics and events show what the handler does. What they need to know of the
// rest of the config waits until Caddy has started.
func (h *Handler) beWatched(ctx caddy.Context) error {
	if err := h.shared.register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	h.watched = new(watched)
	app, err := ctx.App("events")
	if err != nil {
		return err
	}
	h.watched.events.app, h.watched.events.ctx = app.(*caddyevents.App), ctx
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	h.watched.start.then(func() {
		h.settle(server)
		h.watched.events.started.Store(true)
	})
	h.loader.loaded = h.loaded
	h.leave = append(h.leave, h.shared.live.add(h))
	if err := h.watched.events.app.On(startedEvent, &h.watched.start); err != nil {
		h.notice.Warn("no events are emitted, and metrics of robots.txt are missing", zap.Error(err))
	}
	return nil
}
