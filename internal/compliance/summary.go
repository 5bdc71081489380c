package compliance

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// summaryView is what is seen first: how many robots there were, how many obey, and what was
// refused.
type summaryView struct {
	Robots      numberView
	Others      bool   // there were more, of which each has no row of its own
	Worst       string // who broke the most rules; empty: nobody did
	WorstBroke  string // how often
	WorstCost   string // empty: not known
	Requests    numberView
	Disobedient numberView
	Refused     numberView
	Observed    numberView
	Banned      numberView // of both: what came during a ban
	Sent, Took  string     // what was served, and the time of the back end; empty: not known
	Saved       string     // by refusals; empty: nothing
	Statuses    []statusView
	Obedience   string
	Groups      []groupView   // robots by how they obey, those without any left out
	Verdicts    []verdictView // what was against the rules, the most frequent first
}

// groupView is how many robots obey alike, as a part of a bar that is 100 long.
type groupView struct {
	Class, Text string
	Count       numberView
	At, Width   string
}

// statusView is how many requests were answered with a status of a class.
type statusView struct {
	Class string
	Count numberView
}

// verdictView is how many requests had a verdict, as a bar that is 100 long for the most
// frequent one.
type verdictView struct {
	Text  string
	Count numberView
	Width string
}

// mostly is the share of requests that a robot which obeys for the most part keeps the rules in.
const mostly = 0.9

// verdictTexts are the verdicts against the rules as they are said to people.
var verdictTexts = []struct {
	verdict Verdict
	text    string
}{
	{Disallowed, "disallowed"}, {TooFast, "too fast"}, {OffHours, "off hours"}, {Impostor, "impostor"},
}

// verdictText returns a verdict as it is said to people.
func verdictText(v Verdict) string {
	for _, t := range verdictTexts {
		if t.verdict == v {
			return t.text
		}
	}
	return v.String()
}

// newSummary returns the view of a tally, which is that of these sites.
func newSummary(t *Tally, sites ...Site) summaryView {
	v := summaryView{
		Requests: newNumber(t.Requests), Disobedient: newNumber(t.Disobedient),
		Refused: newNumber(t.Refused), Observed: newNumber(t.Observed), Banned: newNumber(t.Of(Banned).Requests),
		Obedience: percent(t.Obedience),
	}
	if t.Measured > 0 {
		v.Sent, v.Took = byteText(t.Bytes), timeText(t.Seconds)
	}
	if t.SavedBytes > 0 || t.SavedSeconds > 0 {
		v.Saved = "about " + byteText(t.SavedBytes) + " and " + timeText(t.SavedSeconds)
	}
	for _, class := range statusClasses {
		if n := t.Statuses[class]; n > 0 {
			v.Statuses = append(v.Statuses, statusView{class, newNumber(n)})
		}
	}
	groups, others, worst, did := obedient(sites)
	v.Others = others
	if did.Disobedient > 0 {
		v.Worst = robotName(&Robot{Robot: worst.name, Class: worst.class})
		if worst.standing == "impostor" {
			v.Worst = "an impostor of " + v.Worst
		}
		v.WorstBroke = times(did.Disobedient)
		if did.Measured > 0 {
			v.WorstCost = byteText(did.Bytes) + " and took " + timeText(did.Seconds) + " of the back end"
		}
	}
	robots := uint64(0)
	for i, n := range groups {
		robots += n
		if n > 0 {
			text := [...]string{"kept every rule", "kept them nearly always", "did not listen"}[i]
			v.Groups = append(v.Groups, groupView{Class: "g" + strconv.Itoa(i), Text: text, Count: newNumber(n)})
		}
	}
	v.Robots = newNumber(robots)
	at := 0.0
	for i := range v.Groups {
		width := 100 * float64(v.Groups[i].Count.Value) / float64(robots)
		v.Groups[i].At, v.Groups[i].Width = decimal(at), decimal(width)
		at += width
	}
	most := uint64(0)
	for _, of := range verdictTexts {
		most = max(most, t.Of(of.verdict).Requests)
	}
	for _, of := range verdictTexts {
		if c := t.Of(of.verdict); c.Requests > 0 {
			v.Verdicts = append(v.Verdicts, verdictView{
				Text: of.text, Count: newNumber(c.Requests),
				Width: decimal(100 * float64(c.Requests) / float64(most)),
			})
		}
	}
	slices.SortStableFunc(v.Verdicts, func(a, b verdictView) int { return cmp.Compare(b.Count.Value, a.Count.Value) })
	return v
}

// obedient returns how many robots kept every rule, nearly every one, and did not listen, and which one broke the
// most rules. A robot that came to several sites counts once, by all that it did. Those without a row of their own
// are not counted, but others says that there were some.
func obedient(sites []Site) (groups [3]uint64, others bool, worst who, did Tally) {
	sums := make(map[who]Tally)
	for i := range sites {
		for j := range sites[i].Robots {
			r := &sites[i].Robots[j]
			if r.Class == OtherRobots {
				others = true
				continue
			}
			t := sums[r.who()]
			t.Requests += r.Requests - r.Of(Banned).Requests
			t.Disobedient += r.Disobedient
			t.Measured, t.Bytes, t.Seconds = t.Measured+r.Measured, t.Bytes+r.Bytes, t.Seconds+r.Seconds
			sums[r.who()] = t
		}
	}
	for w, t := range sums {
		if t.Disobedient > did.Disobedient || t.Disobedient == did.Disobedient && cmp.Or(cmp.Compare(w.name, worst.name), cmp.Compare(w.class, worst.class), cmp.Compare(w.standing, worst.standing)) < 0 {
			worst, did = w, t
		}
		t.share()
		switch {
		case t.Disobedient == 0:
			groups[0]++
		case t.Obedience >= mostly:
			groups[1]++
		default:
			groups[2]++
		}
	}
	return groups, others, worst, did
}

// decimal returns a length in a drawing.
func decimal(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }
