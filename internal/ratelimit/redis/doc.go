// Package redis keeps budgets and bans in Redis or Valkey, so that several Caddys
// hold a robot to one pace between them, and ban it together. What each of them knows can be
// published there for the others to read.
//
// # What is kept
//
// A decision is one script on the server, and so one round trip, whether it looks
// at the pace alone or at a ban as well. It is atomic: of requests that come to all
// nodes at once, as many are admitted as if they came to one. What it keeps:
//
//	caddy-robots:{site/robot/standing}:pace               string  the arrival time, with an r after a refusal
//	caddy-robots:{site/robot/standing}:ban:address        string  the ban: since, until, line and rule
//	caddy-robots:{site/robot/standing}:offences:address   list    the times of offences, the newest first
//	caddy-robots:bans                                     stream  bans and lifts, for the nodes to know
//	caddy-robots:nodes                                    string  the nodes that have published something
//	caddy-robots:node:name:id                             list    the pieces of that, the last one first
//
// Times are in microseconds since 1970. In the parts of a key, other bytes than printable
// ASCII and any of % / { } # are written as %XX; what is too long ends in # and a hash,
// so that no key has more than 200 bytes. The braces keep what one decision needs on one node of a
// cluster.
//
// Every key expires: a state when its arrival time is past, offences when they no
// longer count, a ban when it ends, and the stream, which holds some ten thousand events,
// a minute after the last ban. What a node has published expires when it says, and the list of
// nodes with the last of them. A robot that has been silent for an interval, and is
// not banned, leaves nothing behind. Data under these keys that is not ours is left as it is, and is an error
// that wraps [ratelimit.ErrKey].
//
// # Clocks
//
// Time is that of the server, in microseconds, so the clocks of the nodes may differ.
// Should it step back, [ratelimit.Limit.Take] says what follows, and a ban goes
// on for no longer than its own length. Only with CallersClock is the time
// that Take is told. The intervals of a limit are rounded down to whole
// microseconds.
//
// # What nodes publish
//
// [Store.Publish] replaces what was published under the name of a node, as a whole: it puts the new
// pieces beside the old ones and then changes the list of nodes. Pieces are of 256 KiB, since
// a server does nothing else while it copies one: of 26 MiB in a single piece, decisions
// would wait for tens of milliseconds. A node that starts again replaces what it published
// before. Two nodes of one name replace what the other one shows, and are told so by [ErrName].
//
// # Time and connections
//
// [Store.Take] ends within the Timeout of [Options], be the server slow, paused or
// gone. It has one attempt, and only a connection that turns out to be closed is
// replaced by the next one. A decision that the server makes too late may count all the same.
//
// To connect takes up to four round trips, with TLS and a password. Where the server is so far away that
// this is more than the Timeout, Take cannot do it; [Store.Ping] has five seconds, and opens
// all connections that Take may use. They are kept open. [ratelimit.Failover] pings first,
// and whenever the store was lost. A Store that is used without it, far from its server, is for its user to ping.
//
// # What is asked of the server
//
// Redis 5 or later, or any Valkey. Nothing has to be saved to disk: a server that
// has lost its data has forgotten debts and bans, which admits too much for an
// interval and is no error. For the same reason it may evict keys, if memory is short; with noeviction it
// fails instead. A user needs these rights:
//
//	~caddy-robots:* +eval +evalsha +time +get +set +del +lindex +llen +lpush +lset +rpop
//	+pexpire +pttl +xadd +xread +ping +select
//
// Fleets that are to have nothing in common use databases of their own: the number at the end of
// the URL.
package redis
