package compliance

import "math/bits"

// door decides whether a stranger is let in where all places are taken. A stranger that comes
// once has no chance against anybody who weighs something, but its visit is remembered for a
// while; with more visits than the lightest inside weighs, it takes that one's place. So
// a flood of made-up names that come once drives out only what weighs nothing any more, and who
// comes often gets in after any flood. That a newcomer has to show itself again before it may drive
// out others is the idea of 2Q (Johnson and Shasha, 1994).
//
// newDoor makes one. Not safe for concurrent use.
type door struct {
	strangers []bucket
	floor     uint64 // none inside weighed less in this hour; 0: not known
	hour      int32
}

// bucket holds the strangers with fingerprints that are alike, the last one that came first.
type bucket [8]stranger

// stranger is somebody by its fingerprint, and how often it came.
type stranger struct {
	fingerprint uint64
	visits      uint32
}

// newDoor returns a door that remembers so many strangers, or a few more.
func newDoor(strangers int) door {
	return door{strangers: make([]bucket, strangers/len(bucket{})+1)}
}

// knock counts the visit of a stranger, and returns how often it came.
func (d *door) knock(fingerprint uint64) uint64 {
	at, _ := bits.Mul64(fingerprint, uint64(len(d.strangers)))
	b := &d.strangers[at]
	i := 0
	for i < len(b)-1 && b[i].fingerprint != fingerprint {
		i++
	}
	s := stranger{fingerprint, 1}
	if b[i].fingerprint == fingerprint {
		s.visits = sum32(b[i].visits, 1)
	}
	copy(b[1:i+1], b[:i])
	b[0] = s
	return uint64(s.visits)
}

// opens reports whether somebody of this weight gets in. lightest returns the weight of the lightest
// inside; it is asked where that may have come to be less than was found before, which is once an
// hour at most as long as nobody gets in.
func (d *door) opens(weight uint64, at int64, lightest func() uint64) bool {
	if hour := hourOf(at); weight > d.floor || hour > d.hour {
		d.floor, d.hour = lightest(), hour
	}
	return weight > d.floor
}
