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
// Site owners, and the texts of 1996, call a group a record: one or more User-agent lines and the
// lines under them. A token is the name in a User-agent line, without a version. A rule is an Allow
// or Disallow line; its value is its pattern. A target is the path and query that a robot asks for,
// as on the request line. A dialect is the standard that reads a file.
//
// # The language
// A file is a sequence of lines; LF, CR and CRLF end a line. A # begins a comment anywhere. A line
// is "field: value". Blanks around both, and the case of the field, do not count. In the dialect
// RFC9309, a record begins with its User-agent lines and reaches to the next User-agent line that
// follows a rule or field of the record; blank lines mean nothing.
//
//	User-agent: GPTBot         # a robot, or * for every robot not named
//	Disallow: /private/        # what begins with this path
//	Allow: /private/*.html$    # * is any text, a final $ the end of the target
//	Crawl-delay: 5             # seconds between two requests
//
// Sitemap, Host, Clean-param, License, TimeGate and Archived belong to the file, wherever they are,
// and do not end a record. Unknown fields are kept and do not end one either (RFC 9309, section
// 2.2.4).
//
// # What is accepted beyond RFC 9309
//
// Tokens may have digits, dots, blanks and slashes with a version: real files name 008,
// archive.org_bot and "Download Ninja". A star after a token is dropped. Common misspellings of
// fields and a missing colon are read with a warning. A pattern that begins with neither / nor *
// matches nothing, and a diagnostic says what to write.
//
// Parse never fails. It reads no line of a text in UTF-16 or of an HTML page, no line above 16 KiB,
// and nothing after Options.MaxBytes. Each of these is a Diagnostic. So is every line that probably
// does not do what its author means: the Diagnostic says what is wrong and what to write.
//
// # Dialects
//
//	                       RFC9309            Draft1996           NoRobots1994
//	a record ends at       a User-agent line  a blank line too    a blank line too
//	what binds a robot     the longest token  the first record    the first record
//	                       of all records
//	Allow                  yes                yes                 unknown field
//	what decides           the longest match  the first match     any Disallow
//	* and $ in a pattern   wildcard, end      plain bytes         plain bytes
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
// In both, a token that is only a word which robots (bot, spider, fetch, http) or browsers
// (Mozilla, Safari) use binds only a robot with exactly that name. A value that is a whole
// User-Agent names the robot in it, or nobody; a list with commas names each. Diagnostics report
// all of these. [Policy.FindProgram] finds the record of an app, a library or a service: its token
// equals one of the products, or the beginning of one before a hyphen.
//
// In the dialects of 1994 and 1996 a record also binds a robot whose own name is
// a part of the record's User-agent value, as the 1996 draft has it; in MatchSubstring
// only.
//
// # Records of version 2.0.0
//
// In RFC9309 and Draft1996, a record whose first line below its User-agent lines is "Robot-version:
// 2.0.0" is read by the 1996 proposal 2.0.0. A pattern with stars must match the whole target, and
// a pattern without stars must be equal to it; $ is a byte like others. An Allow without stars wins
// over all; then comes every Disallow; then every Allow with stars. A target that none of them
// matches is disallowed if the record has an Allow with stars, or Allows and no Disallow; otherwise
// it is allowed.
//
// A higher version is read the same way if its second number is even. With an odd one the record is
// ignored, as if it were not in the file. A 1.x.y with an even second number asks for the rules of
// the dialect.
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
// Crawl-delay is the time in seconds between two requests (the 2011 survey). Request-rate is the
// highest number of documents in a time, "10/1m"; it may hold in a part of the day only, "10/1m
// 0600-0845" (the 1996 proposal 2.0.0). Visit-time is the part of the day in which visits are
// allowed. Times are GMT; a part of the day includes its first minute but not its last, and may
// span midnight. Inside its times, a rate with times replaces those without. If there are several
// rates, or a rate and a delay, the slower holds.
//
// # What else a file states
//
// Other statements of a file are found like its rules, by record and target. They are safe to
// repeat in the header of a response: a value with control characters, a value that is not a URI,
// or one that is not a plain dictionary, is a diagnostic.
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
// [Binding].State finds the other lines. Content-Usage is as in draft-ietf-aipref-attach: the
// longest path that matches counts. If several preferences have the same path, the strictest holds
// (parameters do not count). A target that is disallowed has no preference. The words are those of
// the editors' copy of draft-ietf-aipref-vocab of 19 August 2026 and of Cloudflare's Content
// Signals; others are kept, with a diagnostic. Content-Signal is read the same way. In the older
// dialects, and in records of version 2.0.0, the line counts that would count if all were Allow
// lines.
//
// # What we chose
//
// If the sources say nothing or contradict each other, the package does this.
//
//   - In every dialect a User-agent line after a rule opens a new record, with or without a blank
//     line: the Memento extensions write it so. In the older dialects a rule after a blank line,
//     without a User-agent line before it, binds nobody.
//   - Crawl-delay and the other fields of a record end its User-agent lines as rules do. Otherwise
//     a delay for one robot would hold for the next.
//   - A User-agent line that names nobody still opens a record, so that its rules do not belong to
//     the record before.
//   - If a User-Agent has two tokens of the same length, the first in the file counts.
//   - Records of one token are read as one in RFC9309. If some have version 2 and
//     others not, only those of version 2 are read.
//   - Robot-version counts only as the first line of its record; a version that
//     cannot be read is no version; 2 and 2.0 are read as 2.0.0.
//   - A line whose pattern can match nothing is not a rule, and does not count as an Allow or
//     Disallow of a record of version 2.
//   - The length of a pattern is the length of its one spelling: a visible ASCII byte is 1, however
//     it is written, a byte beyond ASCII is 3, * and $ are 1 each. So an ordinary pattern has the
//     same length as in Google's parser.
//   - If several rules decide the same, the first in the file is named.
//   - If there are several Visit-time lines, the first holds. "Crawl-delay: 0" asks for nothing.
//     Delays above a day, and rates with a zero in them, are ignored. A part of the day that ends
//     where it begins is the whole day. A record may have 48 rates with times.
//   - A file may have 64 TimeGate lines. Content-Usage before any record binds nobody.
//   - At most 1,000 diagnostics are kept; a last one counts the others.
//
// # Several texts
//
// [Join] makes one robots.txt of several. Each part says what it says alone: lines that would
// belong to a record of the part before become comments. From a part that is not trusted, it takes
// only the records that shut out named robots.
//
// # Trying a file
//
// [File].Diagnostics says what Parse could not read as it is written. [Policy.Shadowed] finds the
// rules that never decide. [Lint] reports these, and what else in a whole file may not be meant.
// [Differences] finds decisions that differ for robots which read by another dialect.
// [Policy.Names] and [Binding.Matches] report what one User-agent line and one rule do alone.
//
// # Cost
//
// Reading and compiling take time in proportion to the length of the text. Find reads the
// User-Agent once, however many robots are named. Decide reads the target once, however many rules
// without stars there are; of the rules with stars it tries those that share a rare pair of bytes
// with the target. One pattern never takes more time than its length times that of the target.
// Neither allocates. (In the older dialects, Find also searches the User-agent values for the
// robot's name, which takes longer the more there are.)
//
// The sources are RFC 9309, the 1996 draft (Koster's "A Method for Web Robots Control"), the
// 1994 standard (its forerunner, "A Standard for Robot Exclusion"), the 1996 proposal 2.0.0
// (Conner's "An Extended Standard for Robot Exclusion"), the 2011 survey of what robots.txt
// files hold, and the Memento extensions for TimeGate and Archived.
package robotsrules
