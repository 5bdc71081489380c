// Package ratelimit holds a robot to the pace that robots.txt asks of it.
//
// Two lines of robots.txt state a pace: Crawl-delay (the 2011 survey), the seconds
// between two requests, and Request-rate (the 1996 proposal 2.0.0), a number of documents in
// a period. [Every] and [PerPeriod] turn them into a [Limit].
//
// # How a request is judged
//
// The arithmetic is GCRA, the generic cell rate algorithm. All that is
// remembered of a robot is one number, its theoretical arrival time: when it
// would have paid for everything that it has fetched, at one document per
// Interval. A request is admitted if that time is less than Burst intervals
// ahead. [Limit.Take] is that rule as a function of a [State], a Limit and a
// time; it reads no clock, so a test can be any time it likes.
//
// What follows from it, and is tested:
//
//   - A robot that leaves one Interval between its requests, give or take a
//     fifth, is never refused.
//   - A robot that is refused and comes back after exactly RetryAfter is
//     served; if it comes back sooner it is refused again.
//   - A refusal costs nothing: a robot that hammers gets its pace, no less.
//     Nor does it get more, because a refusal takes the leeway away.
//   - Nobody waits for longer than one Interval of the limit in force, whatever
//     the clock, the limit or the store did before.
//
// What the first promise costs: a robot that always comes a fifth too early is
// served at 1.25 times its pace. No rule can tell it from one that is early by
// chance without refusing the latter sometimes.
//
// A burst is spent after silence and regained at the pace, so the first period
// of PerPeriod(10, time.Minute) can bring nineteen documents: ten at once and
// nine at the pace. Every later period brings ten.
//
// # Clocks and limits that change
//
// A time further ahead than Burst intervals cannot come from this clock and
// this limit. It means that the clock stepped back, or that the limit was
// relaxed or its burst cut since. It is then taken to be exactly Burst intervals ahead:
// the robot stands as if it had just spent its whole burst, and waits for at
// most one Interval. Debt beyond what the limit in force explains is
// forgiven; a step of the clock never yields more documents at that moment.
//
// # Bans
//
// A client that goes on asking for what it may not have, or too fast, can be refused
// altogether for a time: a [BanPolicy] says after how many offences. Who is
// banned is a robot from one address, or from everywhere if the address is left
// empty, while its pace is that of all its addresses together.
//
// A [Limiter] judges pace and ban together, since each depends on the other: a
// request that is refused for its pace counts as an offence, and one that is
// refused for a ban draws on no budget. An offence that is known beforehand, such as
// asking for a disallowed path, is told to it by [Request].Offence. What follows, and is
// tested:
//
//   - The offence that is the last of so many Within the time brings the ban, whatever
//     came between, and of requests that come at once exactly one does.
//   - What a banned client asks for does not lengthen its ban, and nothing that it
//     did before counts towards the next one.
//   - Nobody is banned for longer than the policy in force at the last offence says,
//     counted from now, whatever the clock did.
//
// # Where states are kept
//
// A [Limiter] keeps one State for each [Key], and who is banned. [Memory] keeps
// them in this process, in tables of bounded size; package redis keeps them for a fleet,
// and [Failover] goes on with a Memory while that cannot be asked. Package limitertest
// holds the tests that every Limiter must pass.
package ratelimit
