package compliance

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The drawings are paths of SVG: one for all bars of a kind, in units of a pixel.

const (
	sparkBars   = 28
	sparkHours  = keptHours / sparkBars
	sparkHeight = 22
)

// newSpark returns the drawing of a robot's last seven days before now, a bar for every six hours.
func newSpark(hours []Period, now time.Time) template.HTML {
	first := now.UTC().Truncate(time.Hour).Add(-(keptHours - 1) * time.Hour)
	bars, week := newBars(hours, first, sparkHours*time.Hour, sparkBars)
	text := "no request in 7 days"
	if week.Requests > 0 {
		text = "7 days: " + grouped(week.Requests) + " requests, " + grouped(week.Disobedient) + " against the rules"
	}
	all, disobedient := barPaths(bars, 4, sparkHeight)
	return template.HTML(`<svg role="img" aria-label="` + text + `" viewBox="0 0 112 22"><path class="all" d="` + all +
		`"/><path class="bad" d="` + disobedient + `"/></svg>`)
}

// newBars adds up periods in so many bars, each of which is as long, and returns their sum too.
func newBars(periods []Period, first time.Time, long time.Duration, number int) (bars []Period, sum Period) {
	bars = make([]Period, number)
	for _, p := range periods {
		if i := int(p.Time.Sub(first) / long); !p.Time.Before(first) && i < number {
			bars[i].add(p)
			sum.add(p)
		}
	}
	return bars, sum
}

// barPaths returns the bars of all requests and, in front of them, of those that were
// disobedient. The highest is as high as the drawing, the lowest can still be seen.
func barPaths(bars []Period, width, height int) (all, disobedient string) {
	most := uint64(1)
	for _, b := range bars {
		most = max(most, b.Requests)
	}
	var a, d strings.Builder
	draw := func(b *strings.Builder, i int, n uint64) {
		if n == 0 {
			return
		}
		b.WriteString("M" + strconv.Itoa(i*width+width/2) + " " + strconv.Itoa(height))
		b.WriteString("V" + strconv.Itoa(height-max(1, int(math.Round(float64(n)/float64(most)*float64(height))))))
	}
	for i, b := range bars {
		draw(&a, i, b.Requests)
		draw(&d, i, b.Disobedient)
	}
	return a.String(), d.String()
}

// daysView is a site's last ninety days, a bar for each.
type daysView struct {
	All, Disobedient string
	Text             string
	Most             string // requests on a day
	First, Last      string
}

// newDays returns the bars of the days before now.
func newDays(days []Period, now time.Time) daysView {
	first := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-keptDays)
	v := daysView{First: first.Format("2 Jan"), Last: now.UTC().Format("2 Jan")}
	bars, sum := newBars(days, first, 24*time.Hour, keptDays)
	if sum.Requests == 0 {
		v.Text = "no request in 90 days"
		return v
	}
	most := 0
	for i := range bars {
		if bars[i].Requests > bars[most].Requests {
			most = i
		}
	}
	v.Most = grouped(bars[most].Requests)
	v.Text = "90 days: " + grouped(sum.Requests) + " requests, " + grouped(sum.Disobedient) +
		" against the rules; most on " + first.AddDate(0, 0, most).Format("2 January") + ", " + v.Most + " requests"
	v.All, v.Disobedient = barPaths(bars, 6, 72)
	return v
}

// heatView is a site's last seven days by the hour: the larger a square, the more requests
// were against the rules.
type heatView struct {
	Calm   string    // hours with requests that all kept the rules
	Levels [4]string // the others, from few to many
	Most   string    // against the rules in an hour; empty: none
	Zone   string
	Text   string
	Days   []heatDay
}

// heatDay is a day of the heat strip.
type heatDay struct {
	Name                  string
	Requests, Disobedient numberView
	Worst                 string // hour
}

// heatCell is the side of an hour's square, in pixels.
const heatCell = 12

// newHeat returns the last seven days before now, in its zone. An hour that begins within one of the zone
// is drawn there.
func newHeat(hours []Period, now time.Time) heatView {
	zone := now.Location()
	var days [7]time.Time // at noon, which no change of clocks moves to another day
	for i := range days {
		days[i] = time.Date(now.Year(), now.Month(), now.Day()-len(days)+1+i, 12, 0, 0, 0, zone)
	}
	var cells [len(days) * 24]Period
	most := uint64(0)
	for _, h := range hours {
		at := h.Time.In(zone)
		day := slices.IndexFunc(days[:], func(d time.Time) bool { return d.YearDay() == at.YearDay() && d.Year() == at.Year() })
		if day < 0 {
			continue
		}
		c := &cells[day*24+at.Hour()] // which has been there before when clocks were set back
		c.add(h)
		most = max(most, c.Disobedient)
	}
	v := heatView{Zone: shortZone(now)}
	var calm strings.Builder
	var levels [len(v.Levels)]strings.Builder
	for i, c := range cells {
		switch {
		case c.Disobedient > 0:
			level := int(math.Ceil(float64(len(levels))*math.Sqrt(float64(c.Disobedient)/float64(most)))) - 1
			square(&levels[level], i, [...]int{4, 6, 8, 10}[level])
		case c.Requests > 0:
			square(&calm, i, 2)
		}
	}
	v.Calm = calm.String()
	for i := range levels {
		v.Levels[i] = levels[i].String()
	}
	for i, day := range days {
		v.Days = append(v.Days, newHeatDay(day, cells[i*24:i*24+24]))
	}
	v.Text = "no request against the rules in 7 days"
	if most > 0 {
		v.Most = grouped(most)
		v.Text = "7 days by the hour; most requests against the rules in an hour: " + v.Most + ". The figures follow."
	}
	return v
}

// newHeatDay sums up a day's hours.
func newHeatDay(day time.Time, hours []Period) heatDay {
	var sum Period
	worst := 0
	for i, h := range hours {
		sum.add(h)
		if h.Disobedient > hours[worst].Disobedient {
			worst = i
		}
	}
	d := heatDay{Name: day.Format("Mon 2 Jan"), Requests: newNumber(sum.Requests), Disobedient: newNumber(sum.Disobedient)}
	if sum.Disobedient > 0 {
		d.Worst = fmt.Sprintf("%02d:00", worst)
	}
	return d
}

// square draws the i-th hour as a square with a side of so many pixels.
func square(b *strings.Builder, i, side int) {
	x, y := i%24*heatCell+(heatCell-side)/2, i/24*heatCell+(heatCell-side)/2
	s := strconv.Itoa(side)
	b.WriteString("M" + strconv.Itoa(x) + " " + strconv.Itoa(y) + "h" + s + "v" + s + "h-" + s + "z")
}
