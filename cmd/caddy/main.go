// Command caddy is Caddy with the robots module built in, and nothing else.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule"
)

func main() {
	caddycmd.Main()
}
