package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

// What an owner may write to get a log that can be judged.
const (
	writeLog = `Caddy writes no access log unless it is told to. Write into the block of the site, not into the global options, and reload:

	log {
		output file /var/log/caddy/access.log
	}
`
	writeJSON = `This can only be read as JSON. Write into the block of the site, and reload:

	log {
		output file /var/log/caddy/access.log
		format json
	}
`
	writeBare = `Take the lines of the log alone: journalctl -u caddy -o cat, docker logs <container>,
docker compose logs --no-log-prefix <service>.
`
	writeCombined = `Write the Combined Log Format, which has the User-Agent. nginx:

	access_log /var/log/nginx/access.log combined;

Apache:

	CustomLog /var/log/apache2/access.log combined
`
)

// advise says what to write where a log, of which so much was read, cannot be judged, or not all of it.
func advise(w io.Writer, log *accesslog.Reader, c *replayCounts) {
	_, problems := log.Unreadable()
	has := func(reason string) bool {
		return slices.ContainsFunc(problems, func(p accesslog.Problem) bool { return p.Reason == reason })
	}
	switch {
	case has(accesslog.ReasonConsole):
		fmt.Fprint(w, writeJSON)
	case has(accesslog.ReasonPrefix):
		fmt.Fprint(w, writeBare)
	case c.Requests > 0 && c.Unlogged == c.Requests:
		fmt.Fprint(w, "No request in the log has its User-Agent. ", writeCombined)
	case c.Requests > 0 || log.Err() != nil:
	case len(problems) > 0:
		fmt.Fprint(w, writeCombined)
	case c.Skipped > 0:
		fmt.Fprint(w, "Nothing in the log is about a request. ", writeLog)
	default:
		fmt.Fprint(w, "The log is empty. ", writeLog)
	}
}
