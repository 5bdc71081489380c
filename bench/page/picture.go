package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// A chart has lines of what something costs against how much of it there is, both on logarithmic axes,
// which begin at 10 and at the least cost.
type chart struct {
	title, across string
	least         float64 // in nanoseconds
	lines         []line
}

// line is the costs of what is called so.
type line struct {
	name   string
	points []point
}

// point is one median, in nanoseconds.
type point struct{ n, cost float64 }

// chartsOf returns the charts of the results.
func chartsOf(r *results) ([]chart, error) {
	byRobots := chart{title: "a browser's request: added by", across: "robots named", least: 10}
	byHosts := chart{title: "a request of a robot that obeys", across: "hosts, each with its own robots.txt", least: 1000}
	for _, add := range []func() error{
		func() error { return byRobots.add(r, "robots", named("robots"), "added-ns/op", 10, 100, 1000, 10_000) },
		func() error { return byRobots.add(r, "header", named("header"), "added-ns/op", 10, 100, 1000) },
		func() error {
			return byRobots.add(r, "header_regexp", named("header_regexp"), "added-ns/op", 10, 100, 1000)
		},
		func() error { return byHosts.add(r, "robots", "Growth/hosts/hosts=%d", "ns/op", 10, 1000, 50_000) },
		func() error { return byHosts.add(r, "bare", "Growth/hosts/hosts=%d", "bare-ns/op", 10, 1000, 50_000) },
	} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	return []chart{byRobots, byHosts}, nil
}

// named is the benchmark of browsers at a site that names %d robots in one of the ways.
func named(by string) string { return "Handler/robots=%d/by=" + by + "/traffic=browser/gc=off" }

// add adds a line of what a benchmark has measured at some numbers, which stand in its name.
func (c *chart) add(r *results, name, benchmark, unit string, numbers ...int) error {
	l := line{name: name}
	for _, n := range numbers {
		cost, err := r.median(fmt.Sprintf(benchmark, n), unit)
		if err != nil {
			return err
		}
		l.points = append(l.points, point{float64(n), max(cost, c.least)})
	}
	c.lines = append(c.lines, l)
	return nil
}

// The size of a chart, and where in it the axes are.
const (
	width, height            = 460, 320
	left, right, top, bottom = 70, 20, 40, 50
)

var colours = map[string]string{"robots": "#0b6e4f", "header": "#b3541e", "header_regexp": "#7a1f5c", "bare": "#4a4a4a"}

// draw returns the charts of the results, side by side, as SVG.
func draw(r *results) ([]byte, error) {
	charts, err := chartsOf(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="13">`+"\n", width*len(charts), height)
	b.WriteString("<title>What a request costs, with more robots named and with more hosts</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width*len(charts), height)
	for i, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)">`+"\n", i*width)
		c.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// draw writes one chart.
func (c *chart) draw(b *bytes.Buffer) {
	var mostN, mostCost float64
	for _, l := range c.lines {
		for _, p := range l.points {
			mostN, mostCost = max(mostN, p.n), max(mostCost, p.cost)
		}
	}
	decadesX, decadesY := math.Ceil(math.Log10(mostN/10)), max(math.Ceil(math.Log10(mostCost/c.least)), 1)
	x := func(n float64) float64 { return left + math.Log10(n/10)/decadesX*(width-left-right) }
	y := func(cost float64) float64 {
		return height - bottom - math.Log10(cost/c.least)/decadesY*(height-top-bottom)
	}
	fmt.Fprintf(b, `<text x="%d" y="22" font-weight="bold">%s</text>`+"\n", left, c.title)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-10, c.across)
	for d := 0.0; d <= decadesX; d++ {
		at := 10 * math.Pow(10, d)
		fmt.Fprintf(b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x(at), height-30, grouped(at))
	}
	for d := 0.0; d <= decadesY; d++ {
		at := c.least * math.Pow(10, d)
		fmt.Fprintf(b, `<path d="M%d %.0fH%d" stroke="#cccccc"/><text x="%d" y="%.0f" text-anchor="end">%s</text>`+"\n", left, y(at), width-right, left-8, y(at)+4, axis(at))
	}
	for _, l := range c.lines {
		var path []string
		for _, p := range l.points {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(p.n), y(p.cost)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(p.n), y(p.cost), colours[l.name])
		}
		last, above := l.points[len(l.points)-1], -8.0
		if l.name == "bare" {
			above = 18 // under its line, as the other one is just above it
		}
		fmt.Fprintf(b, `<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, "L"), colours[l.name])
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="end" fill="%s">%s</text>`+"\n", x(last.n), y(last.cost)+above, colours[l.name], l.name)
	}
}

// axis writes a power of ten nanoseconds as a person would.
func axis(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%g ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%g µs", ns/1e3)
	}
	return fmt.Sprintf("%g ns", ns)
}
