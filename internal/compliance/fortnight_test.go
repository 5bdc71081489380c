package compliance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// twoWeeks returns what 20 robots did on three sites in 14 days, and what was sent of each by its name:
// requests, those against the rules, refused ones, bytes.
func twoWeeks() (l *Ledger, sent map[string][4]uint64) {
	l, sent = NewLedger(Options{}), make(map[string][4]uint64)
	for robot := range 20 {
		name := fmt.Sprintf("Robot%02dBot", robot)
		for hours := range 14 * 24 {
			for i := range (robot*7+hours)%5 + 1 {
				e := allowed(name)
				e.Time = start.Add(time.Duration(hours)*hour + time.Duration(i)*time.Minute)
				e.Site = fmt.Sprint("s", (robot+i)%3, ".example")
				e.Measured, e.Bytes, e.Took = true, int64(1000*(robot+1)), time.Duration(robot+1)*10*time.Millisecond
				if (robot*hours+i)%20 < robot { // the higher its number, the less it listens
					e.Verdict, e.Line, e.Rule = Disallowed, 3, "Disallow: /private/"
					e.Path = fmt.Sprint("/private/", hours%7)
					if e.Refused = robot%2 == 0; e.Refused {
						e.Measured, e.Status = false, 403
					}
				}
				l.Note(&e)
				sums := sent[name]
				sums[0]++
				if e.Verdict == Disallowed {
					sums[1]++
				}
				if e.Refused {
					sums[2]++
				} else {
					sums[3] += uint64(e.Bytes)
				}
				sent[name] = sums
			}
		}
	}
	return l, sent
}

func TestTheNumbersOfAFortnightAreThoseSent(t *testing.T) {
	l, sent := twoWeeks()
	r := l.Snapshot(start.Add(14 * 24 * hour))
	r.MarkKnown(func(name string) Known { return Known{Operator: "of " + name, Purpose: "search"} })
	got := make(map[string][4]uint64)
	var all [4]uint64
	for _, s := range r.Sites {
		for i := range s.Robots {
			robot := &s.Robots[i]
			sums := got[robot.Robot]
			for k, n := range [4]uint64{robot.Requests, robot.Disobedient, robot.Refused, robot.Bytes} {
				sums[k] += n
				all[k] += n
			}
			got[robot.Robot] = sums
		}
	}
	for name, want := range sent {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	if len(r.Sites) != 3 || len(got) != 20 || all != [4]uint64{r.Total.Requests, r.Total.Disobedient, r.Total.Refused, r.Total.Bytes} {
		t.Errorf("got %d sites, %d robots and %v, want 3, 20 and the sums of them %+v", len(r.Sites), len(got), all, r.Total)
	}
	for _, g := range r.Operators {
		if want := sent[strings.TrimPrefix(g.Name, "of ")]; want != [4]uint64{g.Requests, g.Disobedient, g.Refused, g.Bytes} {
			t.Errorf("%s: got %+v, want %v", g.Name, g, want)
		}
	}
	// The page answers at once: who is worst, what it cost, and how much came in a week.
	r.Advise()
	text := words(page(t, r, PageOptions{}))
	week := r.Select(Selection{Period: "7d"})
	for _, want := range []string{
		"20 robots", "Worst: Robot19Bot broke the rules " + grouped(sent["Robot19Bot"][1]) + " times. It was sent " + byteText(sent["Robot19Bot"][3]) + " and took ", grouped(all[0]) + " judged, " + grouped(all[1]) + " against the rules", grouped(all[2]) + " refused",
		byteText(all[3]) + " sent to robots", "Robot19Bot never read robots.txt", "7 days | " + grouped(week.Total.Requests) + " ",
	} {
		if want = strings.ReplaceAll(want, narrow, " "); !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// seasonLedger returns a ledger of so many robots that came each day for 90 days, some of them against the rules.
func seasonLedger(robots int) *Ledger {
	l, random := NewLedger(Options{}), rand.New(rand.NewPCG(3, 4))
	for robot := range robots {
		e := allowed(fmt.Sprintf("Example%dBot%x", robot, random.Uint32()))
		e.Standing, e.Measured, e.Bytes, e.Took = "unverified", true, random.Int64N(100_000), time.Duration(random.Int64N(int64(time.Second)))
		for day := range 90 {
			e.Time = start.Add(time.Duration(day*24*60+random.IntN(24*60)) * time.Minute)
			e.Verdict = Allowed
			if random.IntN(3) == 0 {
				e.Verdict, e.Line, e.Rule, e.Path = Disallowed, 3+day%9, fmt.Sprint("Disallow: /private/", day%9), fmt.Sprintf("/private/%d/figs-and-other-fruit-%d.html", day%9, robot)
			}
			note(l, e, 1+random.IntN(20))
		}
	}
	return l
}

// season returns the live page of a report of 90 days.
func season(r *Report) ([]byte, error) {
	var b bytes.Buffer
	err := WritePage(&b, r, PageOptions{Self: "/robots-report", RefreshSeconds: 30})
	return b.Bytes(), err
}

func TestThePageOf500RobotsAnd90DaysIsSmall(t *testing.T) {
	r := seasonLedger(500).Snapshot(start.Add(90 * 24 * hour))
	r.MarkKnown(func(name string) Known { return Known{Operator: "of " + name, Purpose: "search"} })
	text, err := season(r)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `class="owner"`); n < 500 {
		t.Errorf("got %d robots, want 500", n)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	if b.Len() > 200<<10 {
		t.Errorf("got %d bytes compressed, want at most 200 KiB", b.Len())
	}
	t.Logf("%d bytes, %d compressed", len(text), b.Len())
}

// BenchmarkPageOfASeason makes the page of 500 robots and 90 days, from the ledger on.
func BenchmarkPageOfASeason(b *testing.B) {
	l := seasonLedger(500)
	for b.Loop() {
		r := l.Snapshot(start.Add(90 * 24 * hour)).Select(Selection{})
		r.Advise()
		if _, err := season(r); err != nil {
			b.Fatal(err)
		}
	}
}
