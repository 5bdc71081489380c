// Picture draws what bench/run has measured, for docs/performance.md: what a request costs more with
// more robots named and with more hosts.
//
//	go run ./picture run.out >../docs/performance.svg
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("say which file of results to draw: go run ./picture run.out")
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	charts, err := chartsOf(file)
	if err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	if _, err := io.WriteString(os.Stdout, draw(charts)); err != nil {
		log.Fatal(err)
	}
}

// A chart has lines of what something costs against how much of it there is, both on logarithmic axes.
type chart struct {
	title, across, unit string
	lines               []*line
}

// line is the medians of what was measured, by number.
type line struct {
	name     string
	measured map[float64][]float64
}

// point is one median.
type point struct{ n, cost float64 }

// add adds one measurement to the line with this name.
func (c *chart) add(name string, n, cost float64) {
	i := slices.IndexFunc(c.lines, func(l *line) bool { return l.name == name })
	if i < 0 {
		i = len(c.lines)
		c.lines = append(c.lines, &line{name, make(map[float64][]float64)})
	}
	c.lines[i].measured[n] = append(c.lines[i].measured[n], cost)
}

// points returns the medians, least is what an axis begins with.
func (l *line) points(least float64) (all []point) {
	for n, costs := range l.measured {
		slices.Sort(costs)
		all = append(all, point{n, max(costs[len(costs)/2], least)})
	}
	slices.SortFunc(all, func(a, b point) int { return cmp.Compare(a.n, b.n) })
	return all
}

var (
	byRobots = regexp.MustCompile(`^BenchmarkHandler/robots=(\d+)/by=(robots|header|header_regexp)/traffic=browser/gc=off\b`)
	byHosts  = regexp.MustCompile(`^BenchmarkHosts/hosts=(\d+)\b`)
)

// chartsOf reads the results of benchmarks, and leaves out a chart of which there are none.
func chartsOf(r io.Reader) ([]chart, error) {
	charts := []chart{
		{title: "a browser's request: added by", across: "robots named", unit: "ns"},
		{title: "a robot's request: times that at 10 hosts", across: "hosts, each with its own robots.txt", unit: "times"},
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if m := byRobots.FindStringSubmatch(lines.Text()); m != nil {
			if cost, ok := figure(lines.Text(), "added-ns/op"); ok {
				charts[0].add(m[2], number(m[1]), cost)
			}
		}
		if m := byHosts.FindStringSubmatch(lines.Text()); m != nil {
			if times, ok := figure(lines.Text(), "times-10-hosts"); ok {
				charts[1].add("robots", 10, 1)
				charts[1].add("robots", number(m[1]), times)
			}
		}
	}
	charts = slices.DeleteFunc(charts, func(c chart) bool { return len(c.lines) == 0 })
	if len(charts) == 0 && lines.Err() == nil {
		return nil, errors.New("it has nothing to draw: run the benchmarks Handler and Hosts")
	}
	return charts, lines.Err()
}

// figure returns what a line of results says in a unit.
func figure(result, unit string) (float64, bool) {
	words := strings.Fields(result)
	i := slices.Index(words, unit)
	if i < 1 {
		return 0, false
	}
	v, err := strconv.ParseFloat(words[i-1], 64)
	return v, err == nil
}

// number returns a number of digits alone.
func number(digits string) float64 {
	n, _ := strconv.ParseFloat(digits, 64)
	return n
}

// The size of a chart, and where in it the axes are.
const (
	width, height            = 460, 320
	left, right, top, bottom = 70, 20, 40, 50
)

var colours = map[string]string{"robots": "#0b6e4f", "header": "#b3541e", "header_regexp": "#7a1f5c"}

// draw returns the charts side by side as SVG.
func draw(charts []chart) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="13">`+"\n", width*len(charts), height)
	b.WriteString("<title>What a request costs, with more robots named or with more hosts</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width*len(charts), height)
	for i, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)">`+"\n", i*width)
		c.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw writes one chart.
func (c *chart) draw(b *strings.Builder) {
	least := map[string]float64{"ns": 10, "times": 0.1}[c.unit]
	var mostN, mostCost float64
	for _, l := range c.lines {
		for _, p := range l.points(least) {
			mostN, mostCost = max(mostN, p.n), max(mostCost, p.cost)
		}
	}
	decadesX, decadesY := math.Ceil(math.Log10(mostN/10)), math.Ceil(math.Log10(mostCost/least))
	x := func(n float64) float64 { return left + math.Log10(n/10)/decadesX*(width-left-right) }
	y := func(cost float64) float64 {
		return height - bottom - math.Log10(cost/least)/decadesY*(height-top-bottom)
	}
	fmt.Fprintf(b, `<text x="%d" y="22" font-weight="bold">%s</text>`+"\n", left, c.title)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-10, c.across)
	for d := 0.0; d <= decadesX; d++ {
		at := 10 * math.Pow(10, d)
		fmt.Fprintf(b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x(at), height-30, grouped(at))
	}
	for d := 0.0; d <= decadesY; d++ {
		at := least * math.Pow(10, d)
		fmt.Fprintf(b, `<path d="M%d %.0fH%d" stroke="#cccccc"/><text x="%d" y="%.0f" text-anchor="end">%s</text>`+"\n", left, y(at), width-right, left-8, y(at)+4, c.amount(at))
	}
	for _, l := range c.lines {
		points := l.points(least)
		var path []string
		for _, p := range points {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(p.n), y(p.cost)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(p.n), y(p.cost), colours[l.name])
		}
		last := points[len(points)-1]
		fmt.Fprintf(b, `<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, "L"), colours[l.name])
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="end" fill="%s">%s</text>`+"\n", x(last.n), y(last.cost)-8, colours[l.name], l.name)
	}
}

// amount writes a cost as a person would.
func (c *chart) amount(v float64) string {
	switch {
	case c.unit != "ns":
		return strconv.FormatFloat(v, 'g', -1, 64) + "×"
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', -1, 64) + " ms"
	case v >= 1e3:
		return strconv.FormatFloat(v/1e3, 'g', -1, 64) + " µs"
	default:
		return strconv.FormatFloat(v, 'g', -1, 64) + " ns"
	}
}

// grouped writes a whole number with commas.
func grouped(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
