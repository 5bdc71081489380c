package compliance

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func BenchmarkNote(b *testing.B) {
	l := NewLedger(Options{})
	for what, e := range map[string]Event{"allowed": allowed("GPTBot"), "disallowed": disallowed("GPTBot")} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Note(&e)
			}
		})
	}
}

func BenchmarkNoteParallel(b *testing.B) {
	for _, robots := range []int{1, 64} {
		b.Run(strconv.Itoa(robots)+" robots", func(b *testing.B) {
			b.ReportAllocs()
			l, names := NewLedger(Options{}), make([]string, robots)
			for i := range names {
				names[i] = "Robot" + strconv.Itoa(i)
			}
			b.RunParallel(func(pb *testing.PB) {
				e := allowed("")
				for i := 0; pb.Next(); i++ {
					e.Robot = names[i*7%robots]
					l.Note(&e)
				}
			})
		})
	}
}

// BenchmarkNoteOtherPaths notes disobedient requests for another path each.
func BenchmarkNoteOtherPaths(b *testing.B) {
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = "/private/of/its/own/" + strconv.Itoa(i)
	}
	b.ReportAllocs()
	l, e := NewLedger(Options{}), disallowed("GPTBot")
	for i := 0; b.Loop(); i++ {
		e.Path = paths[i%len(paths)]
		l.Note(&e)
	}
}

// BenchmarkNoteTwoRobots has a robot of its own on each core.
func BenchmarkNoteTwoRobots(b *testing.B) {
	for what, event := range map[string]func(string) Event{"allowed": allowed, "disallowed": disallowed} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			l, robots := NewLedger(Options{}), atomic.Int32{}
			b.RunParallel(func(pb *testing.PB) {
				e := event("Robot" + strconv.Itoa(int(robots.Add(1))))
				for pb.Next() {
					l.Note(&e)
				}
			})
		})
	}
}

// BenchmarkFetched asks for the row of a known robot.
func BenchmarkFetched(b *testing.B) {
	l, e := NewLedger(Options{}), allowed("GPTBot")
	e.RobotsTxt = true
	l.Note(&e)
	b.ReportAllocs()
	for b.Loop() {
		l.Fetched(e.Site, e.Robot, e.Class, e.Standing)
	}
}

// BenchmarkNoteStrangers notes robots that a ledger which is full does not know.
func BenchmarkNoteStrangers(b *testing.B) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = "made-up-" + strconv.Itoa(i)
	}
	for times, what := range []string{"come once", "come twice"} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			l, e := NewLedger(Options{}), allowed("")
			for i := 0; b.Loop(); i++ {
				e.Robot = names[i/(times+1)%len(names)]
				l.Note(&e)
			}
		})
	}
}

// BenchmarkNoteWhileStored notes known robots and strangers while a full ledger is stored or reported all the
// time, and says how long the longest Note took. Much of that is the scheduler's.
func BenchmarkNoteWhileStored(b *testing.B) {
	l := crowd(2000)
	for what, do := range map[string]func(){"Marshal": func() { l.Marshal() }, "Snapshot": func() { l.Snapshot(week) }} {
		b.Run(what, func(b *testing.B) {
			var stop atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				for !stop.Load() {
					do()
				}
			})
			known, stranger := allowed("Example7Bot"), allowed("")
			known.Site, stranger.Site = "www.example.com", "www.example.com"
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				stranger.Robot = strconv.Itoa(i)
				began := time.Now()
				l.Note(&known)
				l.Note(&stranger)
				took = append(took, time.Since(began))
			}
			stop.Store(true)
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "µs-longest")
			b.ReportMetric(float64(took[len(took)*9999/10000].Microseconds()), "µs-1-in-10000")
		})
	}
}

// crowd returns a ledger of so many robots of which each did all that a row has room for.
func crowd(robots int) *Ledger {
	l := NewLedger(Options{})
	for i := range robots {
		e := Event{
			Site: "www.example.com", Robot: fmt.Sprintf("Example%dBot", i), Class: "robot", Standing: "unverified",
			Version: "9f2c61", Record: "Example", Refused: true, Method: "GET", Status: 403,
			Address: fmt.Sprintf("203.0.%d.7", i%256),
		}
		for n := range 40 {
			e.Time = start.Add(time.Duration(n*4) * time.Hour)
			e.Verdict = []Verdict{Disallowed, TooFast, OffHours, Allowed}[n%4]
			e.Line, e.Rule = 6+n%9, fmt.Sprintf("Disallow: /private/%d/", n%9)
			e.Path = fmt.Sprintf("/private/%d/figs-and-other-fruit-%d.html", n%9, i)
			l.Note(&e)
		}
		e.RobotsTxt = true
		l.Note(&e)
	}
	return l
}

func BenchmarkPage(b *testing.B) {
	for _, robots := range []int{10, 500, 2000} {
		b.Run(fmt.Sprint(robots, " robots"), func(b *testing.B) {
			r := crowd(robots).Snapshot(start.Add(160 * time.Hour))
			size := &counter{}
			for b.Loop() {
				size.n = 0
				if err := WritePage(size, r, PageOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size.n)/1024, "KiB")
		})
	}
}

// counter counts what is written.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return io.Discard.Write(p)
}

func BenchmarkSnapshot(b *testing.B) {
	l := crowd(2000)
	for b.Loop() {
		l.Snapshot(start)
	}
}

func BenchmarkMarshal(b *testing.B) {
	l := crowd(2000)
	b.Run("Marshal", func(b *testing.B) {
		for b.Loop() {
			l.Marshal()
		}
		b.ReportMetric(float64(len(l.Marshal()))/1024, "KiB")
	})
	b.Run("Unmarshal", func(b *testing.B) {
		data := l.Marshal()
		for b.Loop() {
			if err := NewLedger(Options{}).Unmarshal(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
