package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are what benchmarks have printed, and what bench/run says of the run.
type results struct {
	measured map[key][]float64
	facts    map[string][]string
}

// key is one figure of a benchmark: its name, without "Benchmark" and the number of cores, and the unit.
type key struct{ name, unit string }

var (
	factLine = regexp.MustCompile(`^# (\w+): (.+)$`)
	cores    = regexp.MustCompile(`-\d+$`)
)

// read reads lines in the format of Go's benchmarks, and lines such as "# load: 1.2".
func read(from io.Reader) (*results, error) {
	r := &results{make(map[key][]float64), make(map[string][]string)}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if m := factLine.FindStringSubmatch(lines.Text()); m != nil {
			r.facts[m[1]] = append(r.facts[m[1]], m[2])
			continue
		}
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := cores.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %q is not a number", lines.Text(), words[i])
			}
			k := key{name, words[i+1]}
			r.measured[k] = append(r.measured[k], v)
		}
	}
	return r, lines.Err()
}

// median returns the median of what a benchmark has measured in a unit.
func (r *results) median(name, unit string) (float64, error) {
	all := slices.Sorted(slices.Values(r.measured[key{name, unit}]))
	if len(all) == 0 {
		return 0, fmt.Errorf("nothing has measured %s of Benchmark%s", unit, name)
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2, nil
}

// figure returns the median that a benchmark and a unit name, with a space in between.
func (r *results) figure(what string) (float64, error) {
	name, unit, _ := strings.Cut(what, " ")
	return r.median(name, unit)
}

// fact returns what was said first of the run.
func (r *results) fact(name string) (string, error) {
	if len(r.facts[name]) == 0 {
		return "", fmt.Errorf("nothing says %q of the run", name)
	}
	return r.facts[name][0], nil
}

// least and most return the bounds of facts that are numbers.
func (r *results) least(name string) (string, error) { return r.bound(name, -1) }
func (r *results) most(name string) (string, error)  { return r.bound(name, 1) }

func (r *results) bound(name string, sign float64) (string, error) {
	best, err := r.fact(name)
	if err != nil {
		return "", err
	}
	for _, text := range r.facts[name] {
		v, err := strconv.ParseFloat(text, 64)
		if b, _ := strconv.ParseFloat(best, 64); err != nil {
			return "", fmt.Errorf("%s: %q is not a number", name, text)
		} else if sign*v > sign*b {
			best = text
		}
	}
	return best, nil
}

// duration writes nanoseconds in a unit that suits them.
func duration(ns float64) string {
	switch abs := math.Abs(ns); {
	case abs < 1e3:
		return figure(ns) + " ns"
	case abs < 1e6:
		return figure(ns/1e3) + " µs"
	default:
		return figure(ns/1e6) + " ms"
	}
}

// micros writes nanoseconds as microseconds.
func micros(ns float64) string { return figure(ns/1e3) + " µs" }

// figure writes a number with two digits that matter, three from ten on, and all of a count below ten
// thousand; not more than two behind the point.
func figure(v float64) string {
	switch abs := math.Abs(v); {
	case v == math.Round(v) && abs < 10_000:
		return grouped(v)
	case abs < 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case abs < 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case abs < 10_000:
		return grouped(math.Round(v))
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return grouped(math.Round(v/unit) * unit)
}

// grouped writes a whole number with commas.
func grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if v < 0 {
		return "-" + digits
	}
	return digits
}
