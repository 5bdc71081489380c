package caddymodule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("robots", parseCaddyfile)
	// Before redir, the first of the directives that answer or rewrite: what is judged is
	// what the client asked for.
	httpcaddyfile.RegisterDirectiveOrder("robots", httpcaddyfile.Before, "redir")
}

func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h := new(Handler)
	return h, h.UnmarshalCaddyfile(helper.Dispenser)
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots [<matcher>] {
//		source      file <path> | url <url> | text <text> {
//			only_disallow_all
//		}
//		serve
//		refresh     <duration>
//		unreachable allow | deny
//		max_size    <size>
//		dialect     rfc9309 | draft1996 | norobots1994
//		match       substring | token
//		unnamed     robots | clients | everyone | nobody
//		exempt      <address|CIDR|private_ranges|"User-Agent text">...
//		treat_as_robot <"User-Agent text">...
//		verify      known | signature | <token> dns <suffix>... | <token> ranges <CIDR|file|url>...
//		resolver    <address>
//		impostors   unnamed | refuse | observe
//		trap        <path>... [for <duration>]
//		disallowed  refuse | observe | pace <rate>
//		too_fast    refuse | observe | wait <duration>
//		off_hours   refuse | observe
//		default_pace <rate>
//		grace       <duration>
//		ban         <n> in <duration> for <duration>
//		share       <redis url> [within <duration>]
//		whole_addresses
//		announce    timegate | content_usage | noindex | sitemap | license...
//		observe
//	}
//
// Every option can stand alone. source, exempt, treat_as_robot and verify may repeat:
// sources are joined in their order. Any other option that repeats, and values that make no sense
// together, are errors.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	err := parseBlock(d, repeatable, func(option string) error {
		if err := h.parseOption(d, option); err != nil {
			return err
		}
		// Here, and not at the end, so that the error names the line.
		if _, err := h.readOptions(); err != nil {
			return d.WrapErr(err)
		}
		if _, err := parseExemptions(h.Exempt); err != nil {
			return d.WrapErr(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s, err := h.readOptions()
	if err == nil {
		err = h.checkTogether(s)
	}
	if err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// parseBlock reads a directive that has no argument, only a block of options, of which none
// but the repeatable ones may stand there twice.
func parseBlock(d *caddyfile.Dispenser, repeatable []string, parse func(option string) error) error {
	d.Next()
	if directive := d.Val(); d.NextArg() {
		return d.Errf("%s takes no argument, but %q stands there; options go into a block: %[1]s { ... }", directive, d.Val())
	}
	seen := make(map[string]int) // option -> line
	for d.NextBlock(0) {
		option := d.Val()
		if line, ok := seen[option]; ok && !slices.Contains(repeatable, option) {
			return d.Errf("%s was set already, on line %d; write it once", option, line)
		}
		seen[option] = d.Line()
		if err := parse(option); err != nil {
			return err
		}
	}
	return nil
}

var repeatable = []string{"source", "exempt", "treat_as_robot", "verify"}

// word is an option that takes one word.
type word struct {
	value *string
	list  string // what it may be, for a person
}

func (h *Handler) words() map[string]word {
	return map[string]word{
		"unreachable":  {&h.Unreachable, listUnreachable},
		"dialect":      {&h.Dialect, listDialect},
		"match":        {&h.Match, listMatch},
		"unnamed":      {&h.Unnamed, listUnnamed},
		"off_hours":    {&h.OffHours, listOffHours},
		"default_pace": {&h.DefaultPace, "a rate such as 1/10s or 10/1m"},
		"resolver":     {&h.Resolver, "the address of a DNS server, such as 9.9.9.9"},
		"impostors":    {&h.Impostors, listImpostors},
	}
}

// parseOption reads one line of the block.
func (h *Handler) parseOption(d *caddyfile.Dispenser, option string) error {
	if word, ok := h.words()[option]; ok {
		return oneArgument(d, option, word.value, word.list)
	}
	switch option {
	case "source":
		return h.parseSource(d)
	case "serve":
		h.Serve = true
		return noArgument(d, option)
	case "whole_addresses":
		h.WholeAddresses = true
		return noArgument(d, option)
	case "observe":
		h.Observe = true
		return noArgument(d, option)
	case "exempt":
		values := d.RemainingArgs()
		if len(values) == 0 {
			return d.Err("exempt: write whom: addresses, CIDR ranges, private_ranges, or a text of the User-Agent")
		}
		h.Exempt = append(h.Exempt, values...)
		return nil
	case "announce":
		if h.Announce = d.RemainingArgs(); len(h.Announce) == 0 {
			return d.Err("announce: write what to repeat as headers: " + listAnnounce)
		}
		return nil
	case "treat_as_robot":
		values := d.RemainingArgs()
		if len(values) == 0 {
			return d.Err("treat_as_robot: write texts of the robots' User-Agents")
		}
		h.TreatAsRobot = append(h.TreatAsRobot, values...)
		return nil
	case "verify":
		return h.parseVerify(d)
	case "trap":
		return h.parseTrap(d)
	case "disallowed":
		return h.parseDisallowed(d)
	case "too_fast":
		return h.parseTooFast(d)
	case "ban":
		return h.parseBan(d)
	case "share":
		return h.parseShare(d)
	case "refresh":
		return parseDuration(d, option, &h.Refresh, "30s, 5m or 1h")
	case "grace":
		return parseDuration(d, option, &h.Grace, "1h, 1d or 7d")
	case "max_size":
		return h.parseMaxSize(d)
	}
	options := append(slices.Collect(maps.Keys(h.words())), "source", "serve", "refresh", "grace", "max_size", "exempt",
		"treat_as_robot", "verify", "trap", "disallowed", "too_fast", "ban", "share", "whole_addresses", "announce", "observe")
	slices.Sort(options)
	return d.Errf("unrecognized robots option %q; the options are %s", option, strings.Join(options, ", "))
}

func (h *Handler) parseSource(d *caddyfile.Dispenser) error {
	var kind, value string
	if !d.AllArgs(&kind, &value) {
		return d.Err("source: write source file <path>, source url <url> or source text <text>")
	}
	if value == "" {
		return d.Errf("source %s: the value is empty", kind)
	}
	var src Source
	switch kind {
	case "file":
		src.File = value
	case "url":
		src.URL = value
	case "text":
		src.Text = value
	default:
		return d.Errf("source: %q is unknown; write file, url or text", kind)
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch {
		case d.Val() != "only_disallow_all":
			return d.Errf("source %s: %q is unknown; write only_disallow_all", kind, d.Val())
		case d.CountRemainingArgs() > 0:
			return d.Err("only_disallow_all takes no value")
		}
		src.OnlyDisallowAll = true
	}
	h.Sources = append(h.Sources, src)
	return nil
}

func (h *Handler) parseVerify(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if h.Verify == nil {
		h.Verify = new(Verify)
	}
	switch {
	case len(values) == 1 && values[0] == "known" && !h.Verify.Known:
		h.Verify.Known = true
	case len(values) == 1 && values[0] == "signature" && !h.Verify.Signature:
		h.Verify.Signature = true
	case len(values) == 1 && (values[0] == "known" || values[0] == "signature"):
		return d.Errf("verify %s was set already; write it once", values[0])
	case len(values) > 2 && values[1] == "dns":
		h.Verify.Claims = append(h.Verify.Claims, Claim{Token: values[0], DNS: values[2:]})
	case len(values) > 2 && values[1] == "ranges":
		h.Verify.Claims = append(h.Verify.Claims, Claim{Token: values[0], Ranges: values[2:]})
	default:
		return d.Err("verify: write verify known, verify signature, verify <token> dns <suffix>... or verify <token> ranges <CIDR|file|url>...")
	}
	if claims := h.Verify.Claims; len(claims) > 0 {
		last := claims[len(claims)-1]
		if err := last.check(); err != nil {
			return d.WrapErr(fmt.Errorf("verify %s: %w", last.Token, err))
		}
	}
	return nil
}

func (h *Handler) parseTrap(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if i := slices.Index(values, "for"); i >= 0 {
		duration, err := caddy.ParseDuration(strings.Join(values[i+1:], " "))
		if err != nil || duration <= 0 {
			return d.Errf("trap: %q is not a duration; write one behind for, such as 24h or 7d", strings.Join(values[i+1:], " "))
		}
		h.TrapFor, values = caddy.Duration(duration), values[:i]
	}
	if len(values) == 0 {
		return d.Err("trap: write the paths that no person is led to, such as /trap/")
	}
	h.Trap = values
	return nil
}

// parseDuration reads the one duration of an option; like says what it looks like.
func parseDuration(d *caddyfile.Dispenser, option string, duration *caddy.Duration, like string) error {
	var value string
	if err := oneArgument(d, option, &value, "a duration such as "+like); err != nil {
		return err
	}
	return readDuration(d, option, value, duration, like)
}

// readDuration reads a duration that is more than nothing.
func readDuration(d *caddyfile.Dispenser, option, value string, duration *caddy.Duration, like string) error {
	parsed, err := caddy.ParseDuration(value)
	if err != nil || parsed <= 0 {
		return d.Errf("%s: %q is not a duration; write one such as %s", option, value, like)
	}
	*duration = caddy.Duration(parsed)
	return nil
}

func (h *Handler) parseMaxSize(d *caddyfile.Dispenser) error {
	var value string
	if err := oneArgument(d, "max_size", &value, "a size such as 500KiB"); err != nil {
		return err
	}
	size, err := humanize.ParseBytes(value)
	if err != nil || size < 1 || size > maxMaxSize {
		return d.Errf("max_size: %q is not a size that can be read; write one from 1B to 16MiB, such as 500KiB", value)
	}
	h.MaxSize = int64(size)
	return nil
}

// parseDisallowed reads one word, or pace and a rate.
func (h *Handler) parseDisallowed(d *caddyfile.Dispenser) error {
	if values := d.RemainingArgs(); len(values) == 2 && values[0] == "pace" {
		h.Disallowed, h.DisallowedPace = values[0], values[1]
		return nil
	} else if len(values) == 1 && values[0] != "pace" {
		h.Disallowed = values[0]
		return nil
	}
	return d.Err("disallowed: write refuse, observe, or pace and a rate, such as disallowed pace 1/1m")
}

// parseTooFast reads one word, or wait and a duration.
func (h *Handler) parseTooFast(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if len(values) == 1 && values[0] != "wait" {
		h.TooFast = values[0]
		return nil
	}
	if len(values) == 2 && values[0] == "wait" {
		h.TooFast = values[0]
		return readDuration(d, "too_fast wait", values[1], &h.MaxWait, "10s")
	}
	return d.Err("too_fast: write refuse, observe, or wait and a duration, such as too_fast wait 10s")
}

func (h *Handler) parseBan(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if len(values) != 5 || values[1] != "in" || values[3] != "for" {
		return d.Err("ban: write how many disobedient requests in which time, and for how long, such as ban 10 in 1m for 1d")
	}
	offences, err := strconv.Atoi(values[0])
	if err != nil {
		return d.Errf("ban: %q is not a number; write one such as 10", values[0])
	}
	var times [2]caddy.Duration
	for i, value := range []string{values[2], values[4]} {
		duration, err := caddy.ParseDuration(value)
		if err != nil {
			return d.Errf("ban: %q is not a duration; write one such as 1m, 1h or 1d", value)
		}
		times[i] = caddy.Duration(duration)
	}
	h.Ban = &Ban{Offences: offences, Within: times[0], For: times[1]}
	return nil
}

func (h *Handler) parseShare(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if len(values) == 3 && values[1] == "within" {
		timeout, err := caddy.ParseDuration(values[2])
		if err != nil || timeout <= 0 {
			return d.Errf("share: %q is not a duration; write one behind within, such as 50ms", values[2])
		}
		h.Share = &Share{URL: values[0], Timeout: caddy.Duration(timeout)}
		return nil
	}
	if len(values) != 1 {
		return d.Err("share: write the URL of a Redis, such as redis://127.0.0.1:6379, and if need be within and a duration")
	}
	h.Share = &Share{URL: values[0]}
	return nil
}

// oneArgument reads the one argument of an option; want says what it may be.
func oneArgument(d *caddyfile.Dispenser, option string, value *string, want string) error {
	if !d.AllArgs(value) {
		return d.Errf("%s takes one value: write %s", option, want)
	}
	return nil
}

func noArgument(d *caddyfile.Dispenser, option string) error {
	if d.CountRemainingArgs() > 0 {
		return d.Err(option + " takes no value")
	}
	return nil
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
