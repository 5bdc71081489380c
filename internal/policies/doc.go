// Package policies says which robots.txt holds for each host: it asks the sources of the rules,
// looks at them again in the background, keeps what they answered last while they cannot be had,
// and remembers what held before.
//
// A [Loader] serves one handler. What outlives a reload of the config is in a [Cache], of which a
// process has one.
package policies
