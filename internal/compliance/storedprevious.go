package compliance

import "slices"

// previousVersion is the format before this one, and oldestVersion the one before that. What they stored is
// read, and stored in this format from then on.
const (
	previousVersion = "3"
	oldestVersion   = "2"
)

// oldestRow is a row as format 2 has it. It says of a day how many requests there were and how many
// of them were against the rules, those during a ban among these.
type oldestRow struct {
	_                     struct{} `cbor:",toarray"`
	Site, Robot           string
	Class                 class
	Standing              standing
	First, Last, Fetched  uint64
	Fetches               uint64
	Version, Record, Read string
	Tallies               []tally
	Hours, Days           []period
	Lines, Paths          []storedCount
	Evidence              []storedEvidence
}

// readOldest returns the row of format 2 that data begins with, and what is behind it.
func readOldest(data []byte) (r *row, rest []byte, err error) {
	var p oldestRow
	if rest, err = storedDecoding.UnmarshalFirst(data, &p); err != nil {
		return nil, nil, err
	}
	if len(p.Hours) > keptHours || len(p.Days) > keptDays || len(p.Tallies) != verdicts || int(p.Class) >= len(classWords) {
		return nil, nil, errNotStored
	}
	s := storedRow{
		Site: p.Site, Robot: p.Robot, Class: p.Class, Standing: p.Standing,
		First: p.First, Last: p.Last, Fetched: p.Fetched, Fetches: p.Fetches, Version: p.Version, Record: p.Record, Read: p.Read,
		Tallies: p.Tallies, Hours: p.Hours, Lines: p.Lines, Paths: p.Paths,
		// A request during a ban is no evidence any more.
		Evidence: slices.DeleteFunc(p.Evidence, func(e storedEvidence) bool { return e.Verdict == Banned }),
	}
	for _, d := range p.Days {
		s.Days = append(s.Days, p.day(&d))
	}
	return s.row(), rest, nil
}

// day returns a day as this format has it. By which verdicts its requests were against the rules was not
// stored: it has them in the shares that they have in all of the row.
func (p *oldestRow) day(d *period) day {
	split := day{Number: d.Number}
	disobedient := min(d.Disobedient, d.Requests)
	split.Counts[slotOf[Allowed][0]] = d.Requests - disobedient
	var all, dealt uint64
	for v := range Verdict(verdicts) {
		if v.refusable() {
			all = sum(all, p.Tallies[v].Requests)
		}
	}
	if all == 0 {
		split.Counts[slotOf[Disallowed][0]] = disobedient
		return split
	}
	// What is dealt up to a verdict is rounded, so that the sum is right.
	given := uint32(0)
	for v := range Verdict(verdicts) {
		if !v.refusable() {
			continue
		}
		t := p.Tallies[v]
		for k, n := range [2]uint64{t.Requests - min(t.Refused, t.Requests), min(t.Refused, t.Requests)} {
			dealt += n
			upTo := float64(dealt) / float64(all) * float64(disobedient)
			share := min(uint32(upTo+0.5), disobedient) - given
			split.Counts[slotOf[v][k]] = share
			given += share
		}
	}
	return split
}
