// Package robotsrules reads robots.txt, decides by it, and says why.
//
// Parse turns the text into a File: everything it says, by line. Compile turns
// a File into a Policy. A Policy finds the Binding of a Robot, which is the part
// of the file that binds it, and a Binding decides about a target. Every
// Decision carries the line that made it. The package opens no connection, reads
// no clock and writes no log.
//
// # Words
//
// A group is what site owners call a record, and the texts of 1996 too: one or
// more User-agent lines and the lines under them. A token is what a User-agent
// line names, without a version. A rule is an Allow or Disallow line, its value
// is its pattern. A target is what a robot asks for: path and query, as they
// stand on the request line. A dialect is the standard by which a file is read.
//
// # The language
//
// A file is a sequence of lines that LF, CR or CRLF end. A # begins a comment
// anywhere. A line is "field: value"; blanks around both are free, and so is the
// case of the field. In the dialect RFC9309, a record begins with its User-agent
// lines and reaches to the next User-agent line that follows a rule or field of
// the record; blank lines mean nothing.
//
//	User-agent: GPTBot         # a robot, or * for every robot not named
//	Disallow: /private/        # what begins with this path
//	Allow: /private/*.html$    # * is any text, a final $ the end of the target
//	Crawl-delay: 5             # seconds between two requests
//
// Sitemap, Host, Clean-param, License, TimeGate and Archived belong to the file
// wherever they stand, and break no record. Fields that are not known are kept
// and do not break one either (RFC 9309, section 2.2.4).
//
// # What is accepted beyond RFC 9309
//
// Tokens may hold digits, dots, blanks and slashes with a version: real files
// name 008, archive.org_bot and "Download Ninja". A star behind a token is
// dropped. Common misspellings of fields and a missing colon are read with a
// warning. A pattern that begins with neither / nor * matches nothing, and a
// diagnostic says what to write.
//
// Nothing makes Parse fail. Of a text in UTF-16 and of an HTML page no line is
// read; lines above 16 KiB, and what comes after Options.MaxBytes, are not
// read either. Each of these is a Diagnostic, and so is every line that does not
// do what its author will have meant: what is wrong with it, and what to write.
//
// # Dialects
//
//	                       RFC9309            Draft1996           NoRobots1994
//	a record ends at       a User-agent line  a blank line too    a blank line too
//	what binds a robot     the longest token  the first record    the first record
//	                       of all records
//	Allow                  yes                yes                 unknown field
//	what decides           the longest match  the first match     any Disallow
//	* and $ in a pattern   wildcard, end      bytes              bytes
//	an empty Disallow      no rule            matches nothing     all is allowed
//	percent-encoding       one form           one form            as written
//
// In each of them a record without rules binds its robots and allows all, and
// "*" names the default record, which binds the robots that no other one names.
//
// # Names
//
// MatchSubstring, the default, looks for tokens in what the robot says of itself (the 1996
// draft, section 3.2.1, "the name token of the robot"; the 1994 standard, "the name without
// version information"); MatchToken compares them with the robot's own product tokens (RFC
// 9309, section 2.2.1). Case never matters. What a robot says of itself is its User-Agent without
// the products of browsers and engines, addresses, e-mail and the platform comment: a letter-wise
// substring of the header would let "Mozilla", which 1 real file of 400 has, shut out nearly
// every robot, and "code" those with an address at code.google.com.
//
// In both, a token that is nothing but a word which robots (bot, spider, fetch, http) or browsers
// (Mozilla, Safari) use binds only a robot that is called just that. A value that is a whole
// User-Agent names the robot in it, or nobody; a list with commas names each. Diagnostics tell of
// all of these. An app, a library or a service, found by [Policy.FindProgram], is named by a
// token that equals one of its products or is its beginning before a hyphen.
//
// In the dialects of 1994 and 1996 a record also binds a robot whose own name is
// a part of the record's User-agent value, as the 1996 draft has it; in MatchSubstring
// only.
//
// # Records of version 2.0.0
//
// In RFC9309 and Draft1996, a record whose first line below its User-agent lines
// is "Robot-version: 2.0.0" is read by the 1996 proposal 2.0.0. A pattern with stars has to
// match the whole target, and a pattern without has to be equal to it; $ is an
// byte like others. An Allow without stars wins over all; then comes every
// Disallow; then every Allow with stars. What none of them matches is disallowed
// when the record has an Allow with stars, or Allows and no Disallow, and
// allowed otherwise.
//
// A higher version is read the same way if its second number is even. With an
// odd one the record is passed over, as if it were not in the file. A 1.x.y with
// an even second number asks for the rules of the dialect.
//
// # How a decision is reached
//
// The fragment of the target is cut off; a target that does not begin with a
// slash gets one, so that "" is / and "?x" is /?x. /robots.txt, without a
// query, is always allowed. Then patterns and target are brought to one spelling
// (RFC 9309, section 2.2.2; the 1996 draft, section 3.2.2), in which a byte is equal
// to its percent-encoding, in either case of the digits: /caf%c3%a9 is /café, and
// /%61 is /a. An encoded slash is not a slash, and an encoded star or dollar in a
// pattern is that byte, no wildcard (RFC 9309, section 2.2.3).
//
// In RFC9309 the rule with the longest pattern that matches decides, and Allow
// when two are as long (RFC 9309, section 2.2.2). No rule, no record: allowed.
//
// # Pace
//
// Crawl-delay asks for seconds between two requests (the 2011 survey), Request-rate for
// at most so many documents in a time, "10/1m", which may hold in a part of the
// day only, "10/1m 0600-0845" (the 1996 proposal 2.0.0). Visit-time is the part of the day in
// which visits are welcome. Times are GMT; a part of the day has its first minute
// and not its last, and may span midnight. A rate with times replaces those
// without, inside its times. Of several rates, and of rate and delay, the slower
// holds.
//
// # What else a file states
//
// What a site says beside its rules is found as its rules are, by record and target,
// and is fit to be repeated in the header of a response: a value that is not, as it
// holds control characters, is no URI, or no plain dictionary, is a diagnostic.
//
//	TimeGate: https://archive.example/tg/  # where old versions are found (the Memento extensions)
//	Archived: .example.com/w/              # of which hosts and paths; * is everything
//	Sitemap: https://example.com/s.xml
//	License: https://example.com/l.xml
//	User-agent: *
//	Content-Usage: /a/ train-ai=n          # how it may be used; all paths without one
//	Content-Signal: search=yes
//	Noindex: /drafts/
//
// [Policy].TimeGates finds the time gates for a host and target. A host with a leading
// dot covers itself and all hosts below it; a host without a port covers all its ports;
// a path covers all that begin with it.
//
// [Binding].State finds the other lines. Content-Usage is as in
// draft-ietf-aipref-attach: the longest path that matches counts, of several
// preferences for the same path the one that grants least holds (parameters aside), and a target
// that is disallowed has none. The words are those of the editors' copy of
// draft-ietf-aipref-vocab of 19 August 2026 and of Cloudflare's Content Signals; others are kept,
// and told. Content-Signal is read the same way. In the older dialects, and in records of
// version 2.0.0, the line counts that would if all were Allow lines.
//
// # What we chose
//
// Where the sources are silent or at odds, this is what the package does.
//
//   - In every dialect a User-agent line after a rule opens a new record, with or
//     without a blank line: the Memento extensions write it so. In the older dialects a rule
//     behind a blank line, with no User-agent line before it, belongs to nobody.
//   - Crawl-delay and the other fields of a record end its User-agent lines just
//     as rules do. Otherwise a delay meant for one robot would fall on the next.
//   - A User-agent line that names nobody opens a record all the same, so that
//     its rules do not fall on the record before.
//   - Of two tokens of the same length in one User-Agent, the one that stands
//     first in the file counts.
//   - Records of one token are read as one in RFC9309. If some have version 2 and
//     others not, only those of version 2 are read.
//   - Robot-version counts only as the first line of its record; a version that
//     cannot be read is no version; 2 and 2.0 are read as 2.0.0.
//   - A line whose pattern can match nothing is no rule; nor does it count when
//     it is asked whether a record of version 2 has Allows or Disallows.
//   - How long a pattern is, is counted in its one spelling: a visible ASCII
//     byte is 1 however written, a byte beyond ASCII 3, * and $ are 1 each.
//     An ordinary pattern so has the length that Google's parser gives it.
//   - Of several rules that decide alike the first in the file is named.
//   - Of several Visit-time lines the first holds. "Crawl-delay: 0" asks for
//     nothing. Delays above a day, and rates with a zero in them, are ignored. A
//     part of the day that ends where it begins is the whole day. A record may
//     have 48 rates with times.
//   - A file may have 64 TimeGate lines. Content-Usage before any record binds nobody.
//   - At most 1,000 diagnostics are kept; a last one counts the others.
//
// # Several texts
//
// [Join] makes one robots.txt of several, in which each says what it says alone: lines that
// would fall on a record of the part before become comments. Of a part that is not trusted
// it takes only the records that keep named robots out.
//
// # Trying a file
//
// [File].Diagnostics say what Parse could not read as it is written. [Policy.Shadowed]
// finds the rules that never decide, [Lint] says them and what else a whole file may not mean,
// and [Differences] what robots decide
// otherwise that read by another dialect. [Policy.Names] and [Binding.Matches] tell what
// one User-agent line and one rule do alone.
//
// # Cost
//
// Reading and compiling take time in proportion to the length of the text. Find
// passes over the User-Agent once, however many robots are named. Decide passes
// over the target once, however many rules without stars there are; of those
// with stars it tries the ones that share a rare pair of bytes with the target.
// One pattern never takes more than its length times that of the target. Neither
// allocates. (In the older dialects, Find also searches the User-agent values for
// the robot's name, which takes longer the more there are.)
//
// The sources are RFC 9309, the 1996 draft (Koster's "A Method for Web Robots Control"), the
// 1994 standard (its forerunner, "A Standard for Robot Exclusion"), the 1996 proposal 2.0.0
// (Conner's "An Extended Standard for Robot Exclusion"), the 2011 survey of what robots.txt
// files hold, and the Memento extensions for TimeGate and Archived.
package robotsrules
