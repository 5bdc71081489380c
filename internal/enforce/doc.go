// Package enforce decides about one request: who asks, what it was told, and whether it keeps
// the pace.
package enforce
