package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// state is how a Caddy is, as the admin API says it.
type state struct {
	Observe               bool
	Directives, Observing int
	Sites                 map[string]int
	Bans, Trapped, Held   int
	Shares                map[string]bool
	Stored                time.Time `json:"report_stored"`
}

// statusCommand is caddy robots status.
func statusCommand() *cobra.Command {
	var c running
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Says how a running Caddy is",
		Long: `
Says how a running Caddy is: whether observe was switched on, how many sites
could be loaded, who is banned or caught in a trap, and whether the shared store
answers. It asks nobody but that Caddy.

Exit status: 0 all is well, 1 a robots.txt could not be loaded, the shared store
does not answer, or no site has the robots directive; 2 it could not be run.`,
		Example: `  caddy robots status
  caddy robots status --json --config /etc/caddy/Caddyfile`,
		Args: noArguments,
	}
	c.addFlags(cmd, "a JSON object")
	return runs(cmd, func(_ *cobra.Command, out *bufio.Writer, _ []string) error {
		st, raw, err := get[state](&c, http.MethodGet, "/robots/status", nil)
		if err != nil {
			return err
		}
		c.printState(out, &st, raw)
		isDown := false
		for _, up := range st.Shares {
			isDown = isDown || !up
		}
		if st.Directives == 0 || st.Sites[policies.StatusFailing] > 0 || isDown {
			return errFound
		}
		return nil
	})
}

// printState prints how a Caddy is.
func (c *running) printState(out *bufio.Writer, st *state, raw json.RawMessage) {
	if c.asJSON {
		fmt.Fprintf(out, "%s", raw)
		return
	}
	say := func(what, format string, values ...any) {
		fmt.Fprintf(out, "%-10s  %s\n", what, printable(fmt.Sprintf(format, values...)))
	}
	if st.Observe {
		say("observe", "on: nobody is refused until it is switched off, or another config is loaded")
	} else {
		say("observe", "off")
	}
	switch {
	case st.Directives == 0:
		say("directives", "none: no site of the config that runs has robots")
	case st.Observing > 0:
		say("directives", "%d, %d of them with observe in the config", st.Directives, st.Observing)
	default:
		say("directives", "%d", st.Directives)
	}
	say("sites", "%d loaded, %d failing, %d waiting for the first load", st.Sites[policies.StatusLoaded], st.Sites[policies.StatusFailing], st.Sites[policies.StatusWaiting])
	say("bans", "%d", st.Bans)
	say("trapped", "%d", st.Trapped)
	say("held", "%d", st.Held)
	for place, up := range st.Shares {
		say("share", "%s %s", place, map[bool]string{true: "answers", false: "does not answer: this Caddy counts by itself"}[up])
	}
	say("report", "stored: %s", moment(st.Stored))
}

// observeCommand is caddy robots observe.
func observeCommand() *cobra.Command {
	var c running
	words := []string{"on", "off"}
	cmd := &cobra.Command{
		Use:   "observe [flags] on|off",
		Short: "Switches for a running Caddy whether anybody is refused",
		Long: `
With on, a running Caddy refuses nobody on any site from the next request on,
and notes everything, as the option observe does. It lasts until off, until
another config is loaded, or until Caddy ends. The log says so, and the metric
caddy_robots_observing is 1 as long.

With off, the sites refuse again as the config says. Nothing that was observed
meanwhile counts against anybody.

Exit status: 0 it is switched, 2 it could not be.`,
		Example: `  caddy robots observe on
  caddy robots observe off`,
		Args:      arguments(1, 1, "word (on or off)"),
		ValidArgs: words,
	}
	c.addFlags(cmd, "a JSON object: how Caddy is then")
	return runs(cmd, func(_ *cobra.Command, out *bufio.Writer, args []string) error {
		if args[0] != "on" && args[0] != "off" {
			return fmt.Errorf("%q is unknown; write on or off%s", args[0], didYouMean(args[0], words))
		}
		st, raw, err := get[state](&c, http.MethodPost, "/robots/observe", url.Values{"set": args})
		if err == nil {
			c.printState(out, &st, raw)
		}
		return err
	})
}
