package accesslog_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

func TestALineBeyondTheLimitIsPassedOver(t *testing.T) {
	const limit = 1 << 20
	for name, length := range map[string]int{"just": limit + 1, "far": 5*limit + 12345} {
		t.Run(name, func(t *testing.T) {
			long := append(bytes.Repeat([]byte("y"), length), '\n')
			text := append(append(log("a", 1), long...), log("a", 2)...)
			r := open(t, accesslog.Options{}, writeFile(t, "a.log", text))
			checkTargets(t, r, "a1 a2")
			n, first := r.Unreadable()
			if n != 1 || first[0].Line != 2 || first[0].Reason != "longer than 1 MiB" {
				t.Errorf("Unreadable() = %d, %v, want line 2 longer than 1 MiB", n, first)
			}
		})
	}
}

func TestALineUpToTheLimitIsRead(t *testing.T) {
	const limit = 1 << 20
	short := len(request(1, ""))
	target := "/" + strings.Repeat("y", limit-short)
	text := request(1, target) + request(2, "/b")
	r := open(t, accesslog.Options{}, writeFile(t, "a.log", []byte(text)))
	if got := targets(t, r); got != target[1:]+" b" {
		t.Errorf("got %d bytes of targets, want %d", len(got), len(target)+1)
	}
}

func TestALongLineAtTheEndIsCountedOnce(t *testing.T) {
	text := append(log("a", 1), bytes.Repeat([]byte("y"), 3<<20)...)
	r := open(t, accesslog.Options{}, writeFile(t, "a.log", text))
	checkTargets(t, r, "a1")
	if n, _ := r.Unreadable(); n != 1 {
		t.Errorf("%d unreadable lines, want 1", n)
	}
}

// failing fails at its end, as a disk does.
type failing struct{ from io.Reader }

func (f failing) Read(b []byte) (int, error) {
	n, err := f.from.Read(b)
	if err == io.EOF {
		err = errors.New("the disk is broken")
	}
	return n, err
}

func TestWhatComesBeforeAReadErrorIsRead(t *testing.T) {
	text := append(log("in", 1, 2), "203.0.113.9 - - [02/Jan/2026"...)
	r := open(t, accesslog.Options{Stdin: failing{bytes.NewReader(text)}}, "-")
	checkTargets(t, r, "in1 in2")
	checkErr(t, r.Err(), "standard input: after line 2: the disk is broken")
	if n, _ := r.Unreadable(); n != 0 {
		t.Errorf("%d unreadable lines, want 0: the error tells of the one that was cut", n)
	}
}

// idle reads nothing, again and again.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatReadsNothingIsGivenUp(t *testing.T) {
	r := open(t, accesslog.Options{Stdin: io.MultiReader(bytes.NewReader(log("in", 1)), idle{})}, "-")
	checkTargets(t, r, "in1")
	checkErr(t, r.Err(), io.ErrNoProgress.Error())
}

// FuzzLines holds two properties: each line that is not blank is counted once; and it
// does not matter in which pieces a log arrives.
func FuzzLines(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add(c.log)
	}
	f.Fuzz(func(t *testing.T, log string) {
		log = oneLine("\n") + log // not taken for a compressed file
		got := readText(t, strings.NewReader(log), nil)
		n := int64(len(got.records)) + got.n + got.skipped
		want := int64(0)
		for line := range strings.Lines(log) {
			if strings.Trim(line, " \t\r\n") != "" {
				want++
			}
		}
		if n != want {
			t.Errorf("%q: %d lines counted, want %d", log, n, want)
		}
		for _, pieces := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			again := readText(t, pieces(strings.NewReader(log)), nil)
			if !slices.Equal(again.records, got.records) || again.n != got.n || again.skipped != got.skipped || !slices.Equal(again.problems, got.problems) {
				t.Errorf("%q in pieces: got %+v, want %+v", log, again, got)
			}
		}
	})
}
