package compliance

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// periodView is a row of the table of periods: what there was, each figure against the period before.
type periodView struct {
	Name, Target string // a link to it, if there is one
	Selected     bool
	Cells        template.HTML
}

// periodTexts are the periods as they are said to people.
var periodTexts = map[string]string{"today": "Today", "7d": "7 days", "30d": "30 days", "90d": "90 days"}

// isObserved reports whether nothing was refused, in whatever period, and something would have been.
func (r *Report) isObserved() bool {
	return r.Total.Refused == 0 && r.Total.Observed > 0 && !slices.ContainsFunc(r.Sites, func(s Site) bool {
		return slices.ContainsFunc(s.Days, func(d Period) bool { return d.Refused > 0 })
	})
}

// newPeriods returns the table of periods of all that is in a report, without what was refused if all was only
// observed.
func newPeriods(r *Report, chosen Selection, self links, observed bool) []periodView {
	var views []periodView
	if self.path != "" {
		all := periodView{Name: "All", Selected: self.period == "", Target: links{self.path, ""}.to(chosen)}
		all.Cells = periodCells(&Earlier{r.Total.Requests, r.Total.Disobedient, r.Total.Refused, r.Total.Bytes, r.Total.Seconds}, nil, observed)
		if !all.Selected {
			all.Cells = `<td colspan="5"></td>` // the report has been cut
			if observed {
				all.Cells = `<td colspan="4"></td>`
			}
		}
		views = append(views, all)
	}
	for _, p := range periodDays {
		span, before := newSpan(p.name, r.Time)
		var sum, earlier Earlier
		for i := range r.Sites {
			for k := range r.Sites[i].Days {
				switch d := &r.Sites[i].Days[k]; {
				case span.holds(d.Time):
					sum.addPeriod(d)
				case before.holds(d.Time):
					earlier.addPeriod(d)
				}
			}
		}
		v := periodView{Name: periodTexts[p.name], Selected: self.period == p.name}
		if self.path != "" {
			v.Target = links{self.path, p.name}.to(chosen)
		}
		if before.isKeptSince(r.Since, r.Time) {
			v.Cells = periodCells(&sum, &earlier, observed)
		} else {
			v.Cells = periodCells(&sum, nil, observed)
		}
		views = append(views, v)
	}
	return views
}

// periodCells returns the cells of a period, each against the one before if that is known; none of what was
// refused if all was only observed.
func periodCells(now, before *Earlier, observed bool) template.HTML {
	var b strings.Builder
	cell := func(text string, n, was float64) {
		b.WriteString("<td>" + text)
		if before != nil {
			b.WriteString(` <span class="soft">` + change(n, was) + "</span>")
		}
		b.WriteString("</td>")
	}
	var was Earlier
	if before != nil {
		was = *before
	}
	cell(string(newNumber(now.Requests).HTML), float64(now.Requests), float64(was.Requests))
	cell(string(newNumber(now.Disobedient).HTML), float64(now.Disobedient), float64(was.Disobedient))
	if !observed {
		cell(string(newNumber(now.Refused).HTML), float64(now.Refused), float64(was.Refused))
	}
	if now.Bytes == 0 && now.Seconds == 0 && was.Bytes == 0 && was.Seconds == 0 {
		b.WriteString(`<td class="none">–</td><td class="none">–</td>`) // nothing was measured
		return template.HTML(b.String())
	}
	cell(byteText(now.Bytes), float64(now.Bytes), float64(was.Bytes))
	cell(timeText(now.Seconds), now.Seconds, was.Seconds)
	return template.HTML(b.String())
}

// change says by how much a figure has changed.
func change(now, before float64) string {
	switch share := math.Round(100 * (now/before - 1)); {
	case now == before || before > 0 && share == 0:
		return "as before"
	case before == 0:
		return "none before"
	case share > 999:
		return "× " + strconv.FormatFloat(now/before, 'f', 0, 64)
	case share > 0:
		return "+" + decimal(share) + narrow + "%"
	default:
		return "−" + decimal(-share) + narrow + "%"
	}
}

// newSpanText says what of the time is selected; nothing if that is all.
func newSpanText(r *Report, now time.Time) string {
	if r.Period == nil {
		return ""
	}
	const layout = "2 January"
	text := "Today so far, in UTC"
	if r.Period.Name != "today" {
		text = "The last " + periodTexts[r.Period.Name] + ", " + r.Period.From.Format(layout) + " to " + now.UTC().Format(layout) + ", which is not over (UTC)"
	}
	if r.Before == nil {
		return text + ". What was before is not kept."
	}
	if r.Period.Name == "today" {
		return text + ", against all of yesterday."
	}
	return text + ", against the " + periodTexts[r.Period.Name] + " before."
}

// byteText returns a number of bytes as it is read: 1.2 MB.
func byteText(n uint64) string {
	if n < 1000 {
		return number(n) + narrow + "B"
	}
	f, unit := float64(n), -1
	for f >= 999.5 && unit < 4 {
		f /= 1000
		unit++
	}
	return threeDigits(f) + narrow + []string{"kB", "MB", "GB", "TB", "PB"}[unit]
}

// timeText returns a number of seconds as it is read: 1.2 s, 3 min, 4.5 h.
func timeText(seconds float64) string {
	switch {
	case seconds == 0:
		return "0" + narrow + "s"
	case seconds < 0.9995:
		return threeDigits(seconds*1000) + narrow + "ms"
	case seconds < 99.5:
		return threeDigits(seconds) + narrow + "s"
	case seconds < 99.5*60:
		return threeDigits(seconds/60) + narrow + "min"
	}
	return threeDigits(seconds/3600) + narrow + "h"
}

// threeDigits returns a number with one decimal where it is below ten.
func threeDigits(f float64) string {
	if f < 9.95 {
		return decimal(math.Round(10*f) / 10)
	}
	return grouped(uint64(math.Round(f)))
}
