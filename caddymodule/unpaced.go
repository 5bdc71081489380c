package caddymodule

import (
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// maxUnprovable is how many robots one log line names.
const maxUnprovable = 20

// parseUnpaced reads the values of the unpaced option: words of purposes, and product tokens.
func parseUnpaced(values []string) (u enforce.Unpaced, err error) {
	for _, value := range values {
		purpose, isPurpose := crawler.ParsePurpose(value)
		switch {
		case isPurpose:
			u.Purposes = append(u.Purposes, purpose)
		case len(strings.TrimSpace(value)) < 3 || strings.ContainsAny(value, "/*;()"):
			return enforce.Unpaced{}, fmt.Errorf("unpaced: %q is no robot's name; write one such as Googlebot, without a version, or a purpose: %s",
				value, listPurposes)
		default:
			u.Tokens = append(u.Tokens, value)
		}
	}
	return u, nil
}

// reportUnprovable says of which robots that are unpaced anybody can take the name, and with it
// leave to come as fast as he likes.
func (h *Handler) reportUnprovable() {
	unpaced := &h.settings.Unpaced
	names := slices.Clone(unpaced.Tokens)
	for _, c := range crawler.Catalogue() {
		if slices.Contains(unpaced.Purposes, c.Purpose) {
			names = append(names, c.Name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, provable := h.prover.ClaimOf(&crawler.Identity{Class: crawler.Robot, Name: name, Key: strings.ToLower(name), Text: name, Products: []string{name}})
		return provable
	})
	if len(names) > 0 {
		h.log.Warn("anyone can claim to be a robot that is unpaced", zap.Int("count", len(names)), zap.Strings("robots", names[:min(len(names), maxUnprovable)]),
			zap.String("instead", `write "verify known", or "verify <name> dns" or "ranges" for those that it does not know; or do not name them`))
	}
}
