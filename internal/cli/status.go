package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// statusCommand is caddy robots status.
func statusCommand() *cobra.Command {
	var c running
	return asking(&c, &cobra.Command{
		Use:   "status [flags]",
		Short: "Reports the state of a running Caddy",
		Long: `
Reports the state of a running Caddy: whether observe was switched on, how many
sites could be loaded, how many clients are banned or caught in a trap, and
whether the shared store answers. It asks only this Caddy.

Exit status: 0 no fault, 1 a robots.txt could not be loaded, the shared store
does not answer, or no site has the robots directive; 2 it could not be run.`,
		Args: noArguments,
	}, func([]string) error { return c.printState(http.MethodGet, "/robots/status", nil) })
}

// observeCommand is caddy robots observe.
func observeCommand() *cobra.Command {
	var c running
	words := []string{"on", "off"}
	return asking(&c, &cobra.Command{
		Use:   "observe [flags] on|off",
		Short: "Switches the refusals of a running Caddy off or on",
		Long: `
With on, a running Caddy refuses nobody on any site from the next request on,
and notes everything, as the option observe does. It lasts until off, until
another config is loaded, or until Caddy ends. The log says so, and until then
the metric caddy_robots_observing is 1.

With off, the sites refuse again as the config says. Requests in between do not
count against a robot.

Exit status: 0 done, 2 it could not be done.`,
		Args:      arguments(1, 1, "word (on or off)"),
		ValidArgs: words,
	}, func(args []string) error {
		if args[0] != "on" && args[0] != "off" {
			return fmt.Errorf("%q is unknown; write on or off%s", args[0], didYouMean(args[0], words))
		}
		if err := c.printState(http.MethodPost, "/robots/observe", url.Values{"set": args}); err != errFound {
			return err
		}
		return nil
	})
}

// printState prints how the Caddy is, which a request is answered with; errFound if something of it
// is to be looked at.
func (c *running) printState(method, path string, query url.Values) (result error) {
	st, err := get[struct {
		Observe               bool
		Directives, Observing int
		Sites                 map[string]int
		Bans, Trapped, Held   int
		Shares                map[string]bool
		Stored                time.Time `json:"report_stored"`
	}](c, method, path, query)
	if err != nil {
		return err
	}
	say := func(what, format string, values ...any) {
		fmt.Fprintf(c.out, "%-10s  %s\n", what, printable(fmt.Sprintf(format, values...)))
	}
	if st.Directives == 0 || st.Sites[policies.StatusFailing] > 0 {
		result = errFound
	}
	say("observe", "%s", map[bool]string{false: "off", true: "on: nobody is refused until it is switched off, or another config is loaded"}[st.Observe])
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
	for place, isUp := range st.Shares {
		if isUp {
			say("share", "%s answers", place)
			continue
		}
		say("share", "%s does not answer: this Caddy counts by itself", place)
		result = errFound
	}
	say("report", "stored: %s", moment(st.Stored))
	return result
}
