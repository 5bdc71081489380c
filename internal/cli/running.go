package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// running is a Caddy that runs, which is asked at its admin endpoint. The zero value is the one
// where Caddy's own commands look for it.
type running struct {
	address, config, adapter string // as for caddy reload
	asJSON                   bool
	patience                 time.Duration // 0: adminTime
}

// adminTime is how long an answer is waited for: longer than Caddy waits for loads of robots.txt.
const adminTime = 45 * time.Second

// addFlags adds the flags of a command that asks a running Caddy.
func (c *running) addFlags(cmd *cobra.Command, each string) {
	flags := cmd.Flags()
	flags.StringVar(&c.address, "address", "", "where Caddy's admin endpoint is, if not at its\ndefault address: host:port or unix//a/path")
	flags.StringVar(&c.config, "config", "", "the `file` of the config, which says where it is")
	flags.StringVar(&c.adapter, "adapter", "", "the `name` of the adapter of that file")
	flags.BoolVar(&c.asJSON, "json", false, "print "+each)
}

// refusal is what Caddy answers in place of what it was asked for.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

// isUnknown reports whether Caddy does not know what it was asked for.
func isUnknown(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.status == http.StatusNotFound
}

// ask sends a request to the admin endpoint and returns what is answered.
func (c *running) ask(method, path string, query url.Values) ([]byte, error) {
	address, err := caddycmd.DetermineAdminAPIAddress(c.address, nil, c.config, c.adapter)
	if err != nil {
		return nil, fmt.Errorf("--config %s does not say where the admin endpoint is: %w", c.config, err)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	type answer struct {
		body []byte
		err  error
	}
	answered := make(chan answer, 1)
	go func() { // Caddy's function has no timeout
		resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, nil)
		if err != nil {
			answered <- answer{err: failure(address, err.Error())}
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		answered <- answer{body, err}
	}()
	patience := cmp.Or(c.patience, adminTime)
	select {
	case a := <-answered:
		return a.body, a.err
	case <-time.After(patience):
		return nil, fmt.Errorf("what listens at %s has not answered within %s", address, patience)
	}
}

// failure says for a person what Caddy's function says when a request did not go well.
func failure(address, text string) error {
	_, answer, isAnswer := strings.Cut(text, "responded with error: HTTP ")
	if !isAnswer {
		if i := strings.LastIndex(text, `": `); i >= 0 {
			text = text[i+3:] // it repeats the URL
		}
		return fmt.Errorf("no Caddy answers at %s: %s. Start it; or write where its admin endpoint is, with --address or --config. "+
			"With \"admin off\" in the config there is none: change the config, and restart Caddy", address, text)
	}
	code, body, _ := strings.Cut(answer, ": ")
	var said struct{ Error string }
	if json.Unmarshal([]byte(body), &said) != nil || said.Error == "" {
		return notOurs(address)
	}
	status, _ := strconv.Atoi(code)
	return &refusal{status, printable(said.Error)}
}

func notOurs(address string) error {
	return fmt.Errorf("what answers at %s is no Caddy with this module, or one of another version; "+
		"write the --address of the right one, or ask it: caddy list-modules | grep robots", address)
}

// get asks for a value in JSON, and also returns it as it came.
func get[T any](c *running, method, path string, query url.Values) (value T, raw json.RawMessage, err error) {
	raw, err = c.ask(method, path, query)
	if err == nil && json.Unmarshal(raw, &value) != nil {
		err = notOurs(cmp.Or(c.address, "the admin endpoint"))
	}
	return value, raw, err
}

// printEach prints each value of a list in JSON as a line.
func printEach(out io.Writer, list json.RawMessage) {
	var values []json.RawMessage
	_ = json.Unmarshal(list, &values) // get has read it
	for _, value := range values {
		fmt.Fprintf(out, "%s\n", value)
	}
}

// sites returns the sites of the Caddy.
func (c *running) sites() ([]policies.Record, json.RawMessage, error) {
	return get[[]policies.Record](c, http.MethodGet, "/robots/sites", nil)
}

// hostNames returns the names of the sites, none if they are not known.
func (c *running) hostNames() (names []string) {
	all, _, _ := c.sites()
	for i := range all {
		names = append(names, all[i].Host)
	}
	return names
}

// completed has a shell offer what list says of the Caddy, if that answers at once.
func (c *running) completed(list func() []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c.patience = 2 * time.Second
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}
