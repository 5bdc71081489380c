// Package proof checks whether a robot is who it says it is: by forward-confirmed reverse DNS, by
// the address ranges that its operator publishes, or by a signature on the request (Web Bot Auth).
// What it finds never decides about people, and an answer that cannot be had in time, from a
// resolver, a list or a key directory, refuses nobody.
package proof
