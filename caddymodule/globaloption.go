package caddymodule

import (
	"maps"
	"math"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/dustin/go-humanize"
)

// globalOptions are the options that are written once for the process, each with an example.
var globalOptions = map[string]string{
	"share":        "share redis://127.0.0.1:6379",
	"resolver":     "resolver 9.9.9.9",
	"hosts_memory": "hosts_memory 512MiB",
}

// parseGlobalOption reads the global option. Syntax:
//
//	robots {
//		share    <redis url> [within <duration>]
//		resolver <address>
//		hosts_memory <size>
//	}
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Err("the global option robots was set already; write it once")
	}
	app := new(App)
	err := parseBlock(d, nil, func(option string) error {
		switch option {
		case "share":
			return app.parseShare(d)
		case "resolver":
			if err := oneArgument(d, option, &app.Resolver, "the address of a DNS server, such as 9.9.9.9"); err != nil {
				return err
			}
		case "hosts_memory":
			return app.parseHostsMemory(d)
		default:
			return unknownGlobalOption(d, option)
		}
		if err := app.Validate(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	})
	return httpcaddyfile.App{Name: "robots", Value: caddyconfig.JSON(app, nil)}, err
}

func (a *App) parseHostsMemory(d *caddyfile.Dispenser) error {
	var value string
	if err := oneArgument(d, "hosts_memory", &value, "a size such as 512MiB"); err != nil {
		return err
	}
	size, err := humanize.ParseBytes(value)
	if err != nil || size < minHostsMemory || size > math.MaxInt64 {
		return d.Errf("hosts_memory: %q is not a size that can be used; write one from 1MiB, such as 512MiB", value)
	}
	a.HostsMemory = int64(size)
	return nil
}

// unknownGlobalOption is the error for a global option that there is not.
func unknownGlobalOption(d *caddyfile.Dispenser, name string) error {
	if slices.ContainsFunc(options, func(o option) bool { return o.name == name }) {
		return d.Errf("%s is set for each site: move it to the robots directive of a site, and remove it here", name)
	}
	return unrecognized(d, "global robots", name, slices.Sorted(maps.Keys(globalOptions))...)
}

func (a *App) parseShare(d *caddyfile.Dispenser) error {
	values := d.RemainingArgs()
	switch {
	case len(values) == 3 && values[1] == "within":
		timeout, err := caddy.ParseDuration(values[2])
		if err != nil || timeout <= 0 {
			return d.Errf("share: %q is not a duration; write one behind within, such as 50ms", values[2])
		}
		a.Share = &Share{URL: values[0], Timeout: caddy.Duration(timeout)}
	case len(values) == 1:
		a.Share = &Share{URL: values[0]}
	default:
		return d.Err("share: write the URL of a Redis, such as redis://127.0.0.1:6379, and if need be within and a duration")
	}
	if err := a.Share.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
