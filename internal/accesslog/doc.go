// Package accesslog reads what web servers noted of the requests they answered, so
// that they can be judged again.
//
// # What is read
//
// The format of each line is recognised by itself, so a file may hold several:
//
//   - Caddy's JSON access log, with any time_format that Caddy has a name for, old
//     and new field names, and whatever a log filter has left of it. A filter that
//     takes the address asked for (request>uri) or the time leaves nothing to read.
//   - Common Log Format and Combined, as Apache and nginx write it, also with the
//     virtual host before it (%v:%p). What follows the User-Agent is passed over.
//
// Files may be compressed with gzip or zstd, recognised by their content, and "-" is
// standard input. A file that is named twice is read once.
//
// # In which order
//
// In the order of time. Files are sorted by their first time, and those that overlap
// are merged; a file is open only while it is its turn. Within one file the order of the
// lines is kept: servers write a line when the request ends, so neighbours may be
// slightly out of order. Pipes and standard input are begun first, since nothing is
// known of them without waiting.
//
// Memory does not depend on the length of the files, only on how many overlap.
//
// # What counts as unreadable
//
// A line that is an access log's but lacks the time or the address asked for, a time
// outside of 1990 to 2199, a line beyond 1 MiB, one that is cut, and anything
// else that is in none of the formats. They are counted, the first ones are kept, and
// reading goes on. Lines that are merely not about a request are counted as skipped:
// Caddy's other messages, and the "-" of a connection on which nothing was asked.
// Blank lines count as nothing.
//
// What keeps a file from being read to its end, or at all, is said once by [Reader.Err];
// what came before it counts.
package accesslog
