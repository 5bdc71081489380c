// Package robots makes a site's own robots.txt binding in the Caddy web server. xcaddy imports
// the path of the module, which is this package. Importing it for its effect registers the handler
// and its Caddyfile directive.
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
// The options are those of caddymodule.Handler. The documentation of package robotsrules says what
// a robots.txt means.
package robots

import _ "github.com/caddy-robots/caddy-robots/caddymodule" // registers http.handlers.robots
