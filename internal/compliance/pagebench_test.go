package compliance

import (
	"fmt"
	"io"
	"testing"
	"time"
)

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
