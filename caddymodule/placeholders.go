package caddymodule

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const placeholderPrefix = "http.robots."

// tell makes a judgement known: to the log, one line for each request that was or would
// have been refused; to the access log; and to the placeholders. It is never called for a
// request that is simply allowed, which must cost next to nothing.
func (h *Handler) tell(r *http.Request, a *asked, j *judgement) {
	told := *j // lives as long as the request, which the judgement need not
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(told.placeholder)
	}
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Object("robots", &told))
	}
	if j.verdict == Exempt {
		return
	}
	if j.refused {
		h.watched.events.refused(r, a, &told, h.now)
	}
	message := "robot refused"
	if !j.refused {
		message = "robot observed, not refused"
	}
	if entry := h.notice.Check(zap.InfoLevel, message); entry != nil {
		entry.Write(zap.Inline(&told), zap.String("reason", told.reason()),
			zap.String("method", a.method), zap.String("host", r.Host), zap.String("uri", a.target),
			zap.String("client_ip", clientAddress(r)), zap.String("user_agent", userAgent(r)))
	}
}

// placeholder answers for {http.robots.*}.
func (j *judgement) placeholder(key string) (any, bool) {
	name, ours := strings.CutPrefix(key, placeholderPrefix)
	if !ours {
		return nil, false
	}
	switch name {
	case "verdict":
		return j.verdict.String(), true
	case "robot":
		return j.who.Name, true
	case "class":
		return j.who.Class.String(), true
	case "verified":
		return j.proof.standing(), true
	case "record":
		return j.decision.Binding.Token(), true
	case "rule":
		return j.rule, true
	case "line":
		return j.line, true
	case "retry_after":
		return j.retrySeconds(), true
	}
	return nil, false
}

// MarshalLogObject implements zapcore.ObjectMarshaler: the same facts, under the same
// names, as the placeholders.
func (j *judgement) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("verdict", j.verdict.String())
	enc.AddString("robot", j.who.Name)
	enc.AddString("class", j.who.Class.String())
	if j.proof.claimed != "" {
		enc.AddString("claimed", j.proof.claimed)
		enc.AddString("verified", j.proof.standing())
	}
	if binding := j.decision.Binding; binding != nil {
		enc.AddString("record", binding.Token())
		enc.AddInt("record_line", binding.Line())
	}
	if j.rule != "" {
		enc.AddString("rule", j.rule)
	}
	if j.line > 0 {
		enc.AddInt("line", j.line)
	}
	if j.retryAfter > 0 {
		enc.AddInt64("retry_after", j.retrySeconds())
	}
	return nil
}
