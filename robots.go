// Package robots makes a site's own robots.txt binding in the Caddy web server. It is the
// module path's front door: importing it for its effect registers the handler and its
// Caddyfile directive, which is what xcaddy needs.
//
//	xcaddy build --with github.com/caddy-robots/caddy-robots
//
// Then a site owner writes one word in a site block:
//
//	example.com {
//		root * /srv/example
//		robots
//		file_server
//	}
//
// The options are those of caddymodule.Handler. What a robots.txt means is told in the
// documentation of package robotsrules.
package robots

import _ "github.com/caddy-robots/caddy-robots/caddymodule" // registers http.handlers.robots
