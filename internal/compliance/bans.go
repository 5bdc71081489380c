package compliance

import (
	"slices"
	"strings"
	"time"
)

// Ban is a ban in force, as far as a report shows it: who, on which site, and until when.
type Ban struct {
	// Site, Robot and Standing are those of an [Event]. Robot is its name in any case of letters, empty
	// for a client that gives none.
	Site, Robot, Standing string

	// Address is where it is banned from; empty: wherever it comes from.
	Address string

	Until time.Time
}

// MarkBans fills in until when the robots are banned.
func (r *Report) MarkBans(bans []Ban) {
	type who struct{ site, robot, standing string }
	of := make(map[who][]*Ban)
	for i := range bans {
		b := &bans[i]
		k := who{cut(b.Site, maxSite), strings.ToLower(cut(b.Robot, maxRobot)), b.Standing}
		of[k] = append(of[k], b)
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		for k := range s.Robots {
			robot := &s.Robots[k]
			// Who is one of the others, or was caught in a trap, is never banned under that name; and a client
			// without a name that was banned sent no User-Agent.
			if robot.Class != OtherRobots && robot.Class != Trapped && (robot.Robot != "" || robot.Class == "unstated") {
				robot.mark(of[who{s.Site, strings.ToLower(robot.Robot), robot.Standing}])
			}
		}
	}
}

// mark fills in the bans of the robot.
func (r *Robot) mark(bans []*Ban) {
	everywhere := false
	r.BannedUntil, r.BannedAddresses = time.Time{}, nil
	for _, b := range bans {
		if b.Until.After(r.BannedUntil) {
			r.BannedUntil = b.Until.UTC()
		}
		r.BannedAddresses = append(r.BannedAddresses, b.Address)
		everywhere = everywhere || b.Address == ""
	}
	if everywhere {
		r.BannedAddresses = nil
	}
	slices.Sort(r.BannedAddresses)
}
