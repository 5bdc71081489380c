// Package compliance keeps what each robot did, and shows it.
//
// A [Ledger] gets an [Event] for every judged request. It counts them by robot and site;
// [Ledger.Snapshot] returns all of it as a [Report], which is plain data, [Report.Select] a part of that, and
// [WritePage] makes one HTML document of it: a file that holds everything, or a live page that leads from
// all robots to a page of each. The package judges nothing, reads no clock and opens nothing: a handler can
// feed a Ledger as requests come, and a replay of an access log as it reads.
//
// # What is counted
//
// A row of the ledger is a robot on a site: its name, its class and what is known of its claim to be
// that robot. An impostor never shares a row with the robot that it claims to be. Of each row are kept:
//
//   - the requests by verdict, and how many of them were refused rather than observed;
//   - requests and disobedience in each of the last 168 hours and 90 days;
//   - when it was first and last seen, when it last read /robots.txt, and which text that was;
//   - the ten lines of robots.txt that it broke most, and the twenty paths it asked for when it did;
//   - the twenty paths that it was allowed to ask for and asked for most;
//   - its last ten disobedient requests and the first one.
//
// Disobedient is a request that was disallowed, too fast, off hours or an impostor's, even if it was
// only observed; allowed and exempt ones are not. Obedience is the share of the others. Requests for
// /robots.txt count as neither, nor do those during a ban: what they are refused for happened before,
// and nobody looked at what they asked for. A browser that nothing binds is a person's, and not noted.
//
// # What is bounded
//
// Whatever robots do, a ledger takes at most 60 MiB with the usual [Options]: names, paths and all other
// texts are cut, and there are at most 8000 rows on 1000 sites, as many as have room. Beyond that a newcomer is
// counted with the other robots of its site, and each of its visits is remembered for a while. When there were
// more of them than the lightest row weighs, it takes that row's place. A row weighs as many requests as it has,
// halved for every week since the last. Where rows that are there need more room, the lightest give way, too. So
//
//   - a flood of names that come once drives out nobody who was there in the last week, nor within a
//     month anybody who came sixteen times;
//   - what a flood has left gives way to any robot that comes back, and after a week to any that comes;
//   - during a flood a robot gets its row too, if it comes back before some 8000 other newcomers do;
//   - nothing is lost: what stood in a row that gives way is added to the other robots of its site.
//
// Sites are held to the same rule. Frequent lines and paths are found by random admission: what comes often
// keeps its place and its count, which is exact as long as there are no more than ten lines and 32 paths.
// Beyond that it is an estimate and says so: nineteen of twenty are right within a tenth, whatever the order.
// What cannot be counted so well is not counted apart, but with all other paths that the same line decides about.
//
// # Clocks
//
// Events bring their own time. Hours and days bear their numbers, so that a silence of months needs
// nothing to be done; where a clock was ahead and is set back, what it left is overwritten
// when its place in the ring is needed. A Snapshot leaves out what is after its time.
//
// # Storage and fleets
//
// [Ledger.Marshal] and [Ledger.Unmarshal] keep a ledger over a restart. A fleet is shown as one by an
// empty ledger to which [Ledger.Merge] or Unmarshal add those of all nodes. Data that is not whole is
// refused.
//
// # Privacy
//
// Only disobedient requests are kept one by one, of their addresses only the network, and of their
// queries only the "?", unless Event.WholeAddress and WholeQuery ask for more.
package compliance
