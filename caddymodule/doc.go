// Package caddymodule makes a site's own robots.txt binding in Caddy. It registers
// the HTTP handler http.handlers.robots with its Caddyfile directive, robots, and the
// matcher http.matchers.crawler; importing the package for its effect is all that a
// build of Caddy needs.
//
// It is the only package of the project that knows HTTP and Caddy. A request goes
// through a few questions, each answered by one package that knows nothing of the
// others:
//
//   - Who is it? Package crawler reads the User-Agent.
//   - What was it told? Package robotsrules decides from the site's robots.txt.
//   - Does it keep the pace? Package ratelimit.
//   - What did it do? Package compliance; for the past, package accesslog.
//   - What is the answer? Here: pass on, hold for a while, 403, or 429.
//
// # Files
//
// The Caddy side: handler.go (the module and its life), caddyfile.go (the directive),
// options.go (what the options mean and which go together), matcher.go (the crawler
// matcher), admin.go (the admin API), answer.go (a refusal as Caddy answers it),
// placeholders.go and log.go (what the owner sees).
//
// The decision: judge.go (the order of the questions), target.go (which path is
// judged), exempt.go (who is left alone), verify.go, prover.go and rangelist.go (who is
// who it says), trap.go (who is a robot without saying so), pace.go (does it keep the pace),
// wait.go (requests that are held until their time), ban.go (who is refused altogether).
//
// What is counted: share.go (with other Caddys, in Redis), bankeeper.go (bans over a
// restart), shared.go (what outlives a config reload).
//
// What other programs are told: metrics.go, counts.go (requests) and policymetrics.go (the
// rules in force), places.go (which sites the config names), events.go, loads.go (what a
// load brought), watch.go with started.go and live.go (from when to when a handler is shown).
//
// The rules: loader.go (when robots.txt is loaded), site.go (for whom), source.go
// (where from), own.go (this site's own robots.txt, asked of this very server),
// fetch.go (over HTTP), sourcestore.go (URLs over a restart), ruleset.go (what a text
// compiles to), edition.go (since when it holds, and what held before), lint.go (what is
// said of it), serve.go (how it is told), sites.go (what is known of each site), table.go
// (a bounded map for keys that clients make up).
//
// The commands of caddy robots: command.go (what they have in common), examine.go (judging
// without a server), check.go, cases.go, lintcommand.go, explain.go, replaycommand.go with
// replay.go, replayorder.go and replaytable.go, terminal.go.
package caddymodule
