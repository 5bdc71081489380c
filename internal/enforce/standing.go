package enforce

// Standing is what is known of a client's claim to be a certain robot. The zero value is
// Unverified: a stranger is never trusted, and nobody is refused because a proof is missing.
type Standing uint8

// The standings of a claim.
const (
	Unverified Standing = iota // not checked, or not in time
	Verified                   // the robot that it claims to be
	Impostor                   // some other client
)

// String returns "unverified", "verified" or "impostor".
func (s Standing) String() string { return standingNames[s] }

var standingNames = [...]string{Unverified: "unverified", Verified: "verified", Impostor: "impostor"}
