package main

import (
	"strings"
	"testing"
)

const measured = `# load: 1.30
goos: linux
BenchmarkPace/by=ours-2   	     100	      50.0 ns/op	       0 allocs/op
BenchmarkPace/by=miss-2   	     100	      40.0 ns/op
# load: 0.7
BenchmarkPace/by=ours-2   	     100	      70.0 ns/op	       0 allocs/op
BenchmarkPace/by=ours-2   	     100	      60.0 ns/op	       0 allocs/op
PASS
`

func resultsOf(t *testing.T, text string) *results {
	t.Helper()
	r, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFiguresAreMediansOfWhatWasMeasured(t *testing.T) {
	const text = `{{time "Pace/by=ours ns/op"}}, {{over "Pace/by=ours ns/op" "Pace/by=miss ns/op"}} times, load {{least "load"}} to {{most "load"}}`
	got, err := fill(text, resultsOf(t, measured))
	if want := "60 ns, 1.5 times, load 0.7 to 1.30"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestWhatNothingMeasuresIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		`{{n "Pace/by=nobody ns/op"}}`:     "nothing has measured ns/op of BenchmarkPace/by=nobody",
		`{{us "Pace/by=ours B/op"}}`:       "nothing has measured B/op of BenchmarkPace/by=ours",
		`{{over "Pace/by=ours ns/op" ""}}`: "nothing has measured",
		`{{fact "date"}}`:                  `nothing says "date" of the run`,
	} {
		if _, err := fill(text, resultsOf(t, measured)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
	if _, err := draw(resultsOf(t, measured)); err == nil {
		t.Error("a picture of nothing: got no error")
	}
	if _, err := read(strings.NewReader("BenchmarkPace 1 fast ns/op\n")); err == nil {
		t.Error("a result without a number: got no error")
	}
}

func TestFiguresAreWrittenForPeople(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 6: "6", 0.0949: "0.09", 1.04: "1.0", 33.4: "33", 999.5: "1,000", 7526: "7,526", 34_123_456: "34,100,000", -1234: "-1,234"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v): got %q, want %q", v, got, want)
		}
	}
	for ns, want := range map[float64]string{51.8: "52 ns", 1234: "1.2 µs", 4_715_702: "4.7 ms"} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%v): got %q, want %q", ns, got, want)
		}
	}
}
