package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// running is a Caddy that runs, which a command asks at its admin endpoint. The zero value is the
// one where Caddy's own commands look for it.
type running struct {
	cmd                      *cobra.Command
	out                      *bufio.Writer // for people; with --json nothing of it is seen
	json                     io.Writer     // what Caddy answers, where that is wanted
	address, config, adapter string        // as for caddy reload
	asJSON                   bool
	patience                 time.Duration // how long an answer is waited for
}

// adminTime is longer than Caddy waits for loads of robots.txt.
const adminTime = 45 * time.Second

// asking makes f what a command does that asks a running Caddy.
func asking(c *running, cmd *cobra.Command, f func(args []string) error) *cobra.Command {
	c.cmd, c.patience = cmd, adminTime
	flags := cmd.Flags()
	flags.StringVar(&c.address, "address", "", "the address of Caddy's admin endpoint, if not the\ndefault one: host:port or unix//a/path")
	flags.StringVar(&c.config, "config", "", "the `file` of the config that has this address")
	flags.StringVar(&c.adapter, "adapter", "", "the `name` of the adapter of that file")
	flags.BoolVar(&c.asJSON, "json", false, "print what Caddy answers, as JSON")
	return runs(cmd, func(_ *cobra.Command, out *bufio.Writer, args []string) error {
		c.out, c.json = out, io.Discard
		if c.asJSON {
			c.out, c.json = bufio.NewWriter(io.Discard), out
		}
		return f(args)
	})
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
		return nil, fmt.Errorf("--config %s does not name the admin endpoint: %w", c.config, err)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body []byte
	answered := make(chan error, 1)
	go func() { // Caddy's function has no timeout
		resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, nil)
		if err == nil {
			defer resp.Body.Close()
			body, err = io.ReadAll(resp.Body)
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			return nil, failure(address, err.Error())
		}
		return body, nil
	case <-time.After(c.patience):
		return nil, fmt.Errorf("what listens at %s has not answered within %s", address, c.patience)
	}
}

// failure says for a person what Caddy's function says when a request did not go well.
func failure(address, text string) error {
	_, answer, isAnswer := strings.Cut(text, "responded with error: HTTP ")
	if !isAnswer {
		_, reason, _ := strings.Cut(text, `": `) // behind the URL
		return fmt.Errorf("no Caddy answers at %s: %s. Start it; or write where its admin endpoint is, with --address or --config. "+
			"With \"admin off\" in the config there is none: change the config, and restart Caddy", address, cmp.Or(reason, text))
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
	return fmt.Errorf("the server at %s is not a Caddy with this module, or it has another version; "+
		"write the --address of the right one, or ask it: caddy list-modules | grep robots", address)
}

// get asks for a value in JSON, and prints it where that is wanted.
func get[T any](c *running, method, path string, query url.Values) (value T, err error) {
	answer, err := c.ask(method, path, query)
	if err == nil && json.Unmarshal(answer, &value) != nil {
		err = notOurs(cmp.Or(c.address, "the admin endpoint"))
	}
	if err == nil {
		_, err = c.json.Write(answer)
	}
	return value, err
}

// names returns all texts that stand under a key in what is answered, none if that is not known.
func (c *running) names(path, key string) []string {
	var answer any
	text, _ := c.ask(http.MethodGet, path, nil)
	_ = json.Unmarshal(text, &answer) // what is no JSON has no names
	found := make(map[string]bool)
	var look func(value any)
	look = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				look(item)
			}
		case map[string]any:
			if name, ok := value[key].(string); ok && name != "" {
				found[name] = true
			}
			look(slices.Collect(maps.Values(value)))
		}
	}
	look(answer)
	return slices.Sorted(maps.Keys(found))
}

// meant returns a question about the name that somebody may have meant; "" for none.
func (c *running) meant(word, path, key string) string {
	if word == "" {
		return ""
	}
	return didYouMean(word, c.names(path, key))
}

// completed has a shell offer names, if the Caddy answers at once.
func (c *running) completed(path, key string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c.patience = 2 * time.Second
		return c.names(path, key), cobra.ShellCompDirectiveNoFileComp
	}
}
