package verify

// Status is what is known of a claim to be a certain robot. The zero value is Unverified:
// a stranger is never trusted, and nobody is refused for want of an answer.
type Status uint8

// The states of a claim.
const (
	// Unverified was not checked, or could not be in time.
	Unverified Status = iota
	// Verified was checked and is true.
	Verified
	// Impostor was checked and is false.
	Impostor
)

// String returns "unverified", "verified" or "impostor".
func (s Status) String() string {
	return [...]string{"unverified", "verified", "impostor"}[s]
}
