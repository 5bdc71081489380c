package caddymodule

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("robots", parseGlobalOption)
	httpcaddyfile.RegisterDirective("robots", parseCaddyfile)
	// Before redir, the first of the directives that answer or rewrite: what is judged is what
	// the client asked for.
	httpcaddyfile.RegisterDirectiveOrder("robots", httpcaddyfile.Before, "redir")
	for _, o := range options {
		optionNames = append(optionNames, o.name)
	}
	slices.Sort(optionNames)
}

// optionNames are the names of all options of the directive, in order.
var optionNames []string

func parseCaddyfile(helper httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	if helper.Next() && helper.NextArg() {
		if path := helper.Val(); strings.HasPrefix(path, "/") && (strings.HasSuffix(path, ".txt") || isFile(path)) {
			return nil, helper.Errf("robots %s: that is a matcher, so only requests for the path %[1]s would be judged; "+
				"for the rules in that file write source file %[1]s in the block of robots", path)
		}
	}
	return newRoute(helper, new(Handler))
}

// isFile reports whether a file is at path.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// newRoute returns the route of a directive that has a matcher, or none, and a handler.
func newRoute(helper httpcaddyfile.Helper, handler interface {
	caddyhttp.MiddlewareHandler
	caddyfile.Unmarshaler
},
) ([]httpcaddyfile.ConfigValue, error) {
	helper.Reset()
	helper.Next()
	matchers, err := helper.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	if err := handler.UnmarshalCaddyfile(helper.Dispenser); err != nil {
		return nil, err
	}
	return helper.NewRoute(matchers, handler), nil
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
//		exempt      <address|CIDR|private_ranges|verified|purpose|"User-Agent text">...
//		treat_as_robot <"User-Agent text">...
//		verify      known | <token> dns <suffix>... | <token> ranges <CIDR|file|url>... |
//		            signature [<host|url>...] | <token> signature <host|url>...
//		impostors   unnamed | refuse | observe
//		trap        <path>... [for <duration>]
//		disallowed  refuse | observe | pace <rate>
//		too_fast    refuse | observe | wait <duration>
//		off_hours   refuse | observe
//		unpaced     <robot|purpose|verified>...
//		default_pace <rate>
//		grace       <duration>
//		ban         <n> in <duration> for <duration>
//		client_prefix <v4 bits> <v6 bits>
//		whole_addresses
//		whole_queries
//		announce    timegate | content_usage | noindex | sitemap | license...
//		observe
//	}
//
// Every option can stand alone. source, exempt, treat_as_robot and verify may repeat: sources
// are joined in their order. Any other option that repeats, and values that make no sense
// together, are errors.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	var s settings
	err := parseBlock(d, repeatable, func(name string) (err error) {
		i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
		if i < 0 {
			return unknownOption(d, name)
		}
		if err := options[i].parse(h, d); err != nil {
			return err
		}
		// Here, and not at the end, so that the error names the line.
		if s, err = h.readOptions(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s, err = h.readOptions(); err == nil {
		err = h.checkTogether(s)
	}
	if err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// parseBlock reads a directive that has no argument, only a block of options, of which none but
// the repeatable ones may stand there twice.
func parseBlock(d *caddyfile.Dispenser, repeatable []string, parse func(option string) error) error {
	d.Next()
	if directive := d.Val(); d.NextArg() {
		return d.Errf("%s takes no argument, but %q follows it; options go into a block, each on a line of its own between %[1]s { and }", directive, d.Val())
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

// repeatable are the options that may stand in a block more than once.
var repeatable = []string{"source", "exempt", "treat_as_robot", "verify"}

// option is one option of the directive, and how its line is read.
type option struct {
	name  string
	parse func(h *Handler, d *caddyfile.Dispenser) error
}

// options are the options of the directive.
var options = []option{
	{"source", parseSource},
	flag("serve", func(h *Handler) *bool { return &h.Serve }),
	{"refresh", func(h *Handler, d *caddyfile.Dispenser) error {
		return parseDuration(d, "refresh", &h.Refresh, "30s, 5m or 1h")
	}},
	word("unreachable", listUnreachable, func(h *Handler) *string { return &h.Unreachable }),
	{"max_size", parseMaxSize},
	word("dialect", listDialect, func(h *Handler) *string { return &h.Dialect }),
	word("match", listMatch, func(h *Handler) *string { return &h.Match }),
	word("unnamed", listUnnamed, func(h *Handler) *string { return &h.Unnamed }),
	words("exempt", "write whom: addresses, CIDR ranges, private_ranges, verified, a purpose such as monitor, or a text of the User-Agent",
		func(h *Handler) *[]string { return &h.Exempt }),
	words("treat_as_robot", "write texts of the robots' User-Agents", func(h *Handler) *[]string { return &h.TreatAsRobot }),
	{"verify", parseVerify},
	word("impostors", listImpostors, func(h *Handler) *string { return &h.Impostors }),
	{"trap", parseTrap},
	{"disallowed", parseDisallowed},
	{"too_fast", parseTooFast},
	word("off_hours", listOffHours, func(h *Handler) *string { return &h.OffHours }),
	words("unpaced", "write whom: names of robots, such as Googlebot, purposes, such as search, or verified",
		func(h *Handler) *[]string { return &h.Unpaced }),
	word("default_pace", "a rate such as 1/10s or 10/1m", func(h *Handler) *string { return &h.DefaultPace }),
	{"grace", func(h *Handler, d *caddyfile.Dispenser) error {
		return parseDuration(d, "grace", &h.Grace, "1h, 1d or 7d")
	}},
	{"ban", parseBan},
	{"client_prefix", parseClientPrefix},
	flag("whole_addresses", func(h *Handler) *bool { return &h.WholeAddresses }),
	flag("whole_queries", func(h *Handler) *bool { return &h.WholeQueries }),
	words("announce", "write what to repeat as headers: "+listAnnounce, func(h *Handler) *[]string { return &h.Announce }),
	flag("observe", func(h *Handler) *bool { return &h.Observe }),
}

// unknownOption is the error for an option that there is not.
func unknownOption(d *caddyfile.Dispenser, name string) error {
	if example, ok := globalOptions[name]; ok {
		return d.Errf("%s is set once for all sites: move it to the global options at the top of the Caddyfile, as\n\n{\n\trobots {\n\t\t%s\n\t}\n}\n\nand remove it here", name, example)
	}
	return unrecognized(d, "robots", name, optionNames...)
}

// flag is an option without a value.
func flag(name string, field func(*Handler) *bool) option {
	return option{name, func(h *Handler, d *caddyfile.Dispenser) error {
		*field(h) = true
		if d.CountRemainingArgs() > 0 {
			return d.Err(name + " takes no value")
		}
		return nil
	}}
}

// word is an option that takes one word; list is what it may be, for a person.
func word(name, list string, field func(*Handler) *string) option {
	return option{name, func(h *Handler, d *caddyfile.Dispenser) error {
		return oneArgument(d, name, field(h), list)
	}}
}

// words is an option that takes one value or more; want says what to write.
func words(name, want string, field func(*Handler) *[]string) option {
	return option{name, func(h *Handler, d *caddyfile.Dispenser) error {
		values := d.RemainingArgs()
		if len(values) == 0 {
			return d.Err(name + ": " + want)
		}
		*field(h) = append(*field(h), values...)
		return nil
	}}
}

// oneArgument reads the one argument of an option; want says what it may be.
func oneArgument(d *caddyfile.Dispenser, option string, value *string, want string) error {
	if !d.AllArgs(value) {
		return d.Errf("%s takes one value: write %s", option, want)
	}
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

func parseSource(h *Handler, d *caddyfile.Dispenser) error {
	var kind, value string
	if !d.AllArgs(&kind, &value) {
		return d.Err("source: write source file <path>, source url <url> or source text <text>")
	}
	if value == "" {
		return d.Errf("source %s: the value is empty", kind)
	}
	var src policies.Source
	switch kind {
	case "file":
		src.File = value
	case "url":
		src.URL = value
	case "text":
		src.Text = value
	default:
		return d.WrapErr(fmt.Errorf("source: %w", robotsrules.UnknownWord(kind, "file, url or text")))
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch {
		case d.Val() != "only_disallow_all":
			return unrecognized(d, "source", d.Val(), "only_disallow_all")
		case d.CountRemainingArgs() > 0:
			return d.Err("only_disallow_all takes no value")
		}
		src.OnlyDisallowAll = true
	}
	h.Sources = append(h.Sources, src)
	return nil
}

func parseVerify(h *Handler, d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if h.Verify == nil {
		h.Verify = new(Verify)
	}
	switch {
	case len(values) == 1 && values[0] == "known" && !h.Verify.Known:
		h.Verify.Known = true
	case len(values) == 1 && values[0] == "signature" && !h.Verify.Signature:
		h.Verify.Signature = true
	case len(values) > 1 && values[0] == "signature":
		if err := h.Verify.addSigners(values[1:]); err != nil {
			return d.WrapErr(err)
		}
	case len(values) == 1 && (values[0] == "known" || values[0] == "signature"):
		return d.Errf("verify %s was set already; write it once", values[0])
	case len(values) > 2 && values[1] == "dns":
		h.Verify.Claims = append(h.Verify.Claims, proof.Claim{Token: values[0], DNS: values[2:]})
	case len(values) > 2 && values[1] == "ranges":
		h.Verify.Claims = append(h.Verify.Claims, proof.Claim{Token: values[0], Ranges: values[2:]})
	case len(values) > 2 && values[1] == "signature":
		h.Verify.Claims = append(h.Verify.Claims, proof.Claim{Token: values[0], Signers: values[2:]})
	default:
		question := ""
		for _, word := range values[:min(2, len(values))] {
			if meant := robotsrules.Meant(word, []string{"known", "signature", "dns", "ranges"}); meant != "" {
				question = "did you mean " + meant + "? Write "
			}
		}
		return d.Err("verify: " + cmp.Or(question, "write ") + "verify known, verify signature [<host|url>...], verify <token> dns <suffix>..., " +
			"verify <token> ranges <CIDR|file|url>... or verify <token> signature <host|url>...")
	}
	if err := h.Verify.check(h.Impostors); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func parseTrap(h *Handler, d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if i := slices.Index(values, "for"); i >= 0 {
		duration, err := caddy.ParseDuration(strings.Join(values[i+1:], " "))
		if err != nil || duration <= 0 {
			return d.Errf("trap: %q is not a duration; write one behind for, such as 24h or 7d", strings.Join(values[i+1:], " "))
		}
		h.TrapFor, values = caddy.Duration(duration), values[:i]
	}
	if len(values) == 0 {
		return d.Err("trap: write the paths to which no link leads people, such as /trap/")
	}
	h.Trap = values
	return nil
}

func parseMaxSize(h *Handler, d *caddyfile.Dispenser) error {
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
func parseDisallowed(h *Handler, d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if err := checkAction("disallowed", values, disallowedWords, listDisallowed); err != nil {
		return d.WrapErr(err)
	}
	if len(values) == 2 && values[0] == "pace" {
		h.Disallowed, h.DisallowedPace = values[0], values[1]
		return nil
	} else if len(values) == 1 && values[0] != "pace" {
		h.Disallowed = values[0]
		return nil
	}
	return d.Err("disallowed: write refuse, observe, or pace and a rate, such as disallowed pace 1/1m")
}

// parseTooFast reads one word, or wait and a duration.
func parseTooFast(h *Handler, d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if err := checkAction("too_fast", values, tooFastWords, listTooFast); err != nil {
		return d.WrapErr(err)
	}
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

// checkAction returns an error if the first value of an option is none of its words.
func checkAction(option string, values []string, words map[string]enforce.Action, list string) error {
	var action enforce.Action
	return chooseWord(&action, option, strings.Join(values[:min(1, len(values))], ""), words, list)
}

func parseBan(h *Handler, d *caddyfile.Dispenser) error {
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

func parseClientPrefix(h *Handler, d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	if len(values) != 2 {
		return d.Err("client_prefix: write how many bits of an address of IPv4 and of IPv6 are one client's, such as client_prefix 32 64")
	}
	var bits [2]int
	for i, value := range values {
		n, err := strconv.Atoi(strings.TrimPrefix(value, "/"))
		if err != nil {
			return d.Errf("client_prefix: %q is not a number of bits; write two, such as client_prefix 32 64", value)
		}
		bits[i] = n
	}
	h.ClientPrefix = &ClientPrefix{V4: bits[0], V6: bits[1]}
	return nil
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
