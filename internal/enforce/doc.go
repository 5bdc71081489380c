// Package enforce is the decision about one request. An [Engine] asks, in this order:
//
//  1. Who is it? The User-Agent gives a class and a name; an address or a signature proves it.
//  2. What was it told? The robots.txt of the host, compiled, gives a decision with its line.
//  3. Does it keep the pace? Crawl-delay, Request-rate, Visit-time, and bans.
//
// It fills a [Verdict] with who, which record, which line and until when. The caller notes the
// verdict and answers.
//
// The package knows neither HTTP nor Caddy, does no I/O and has no clock: a [Request] is plain
// data and carries its time. What talks to the world stands behind interfaces that the caller
// hands in: [Policies], [Prover], [Queue], [Readers] and ratelimit.Limiter. A server, a command
// and a test hand in different ones and get the same decisions.
package enforce
