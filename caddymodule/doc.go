// Package caddymodule makes a site's own robots.txt binding in Caddy. It registers the HTTP
// handlers http.handlers.robots and http.handlers.robots_report, the matcher
// http.matchers.crawler, the app robots with its global option, the admin routes and the commands;
// importing the package for its effect is all that a build of Caddy needs.
//
// It is what Caddy sees, and it wires the rooms of the house together: package enforce decides,
// policies says where the rules of each host come from, proof who is who it says, and compliance
// keeps the ledger.
//
//   - app.go, process.go: what the process has once, and what outlives a config reload.
//   - handler.go, options.go, verify.go: the directive and what its options mean.
//   - caddyfile.go: how the directive and the global option are read.
//   - servehttp.go, requeststate.go: one request, from when it comes to its answer.
//   - refusal.go, announce.go, robotstxt.go: the answers.
//   - observers.go: what the owner sees of a request: log, placeholders, events, metrics, ledger.
//   - sites.go: which sites the config names, and the metrics of their rules.
//   - matcher.go, admin.go, adminsites.go, report.go, reportpage.go: the matcher, the admin API
//     and the report.
package caddymodule
