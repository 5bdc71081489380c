package accesslog_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// request is a line of the Common Log Format, so many seconds after noon.
func request(second int, target string) string {
	at := noon.Add(time.Duration(second) * time.Second)
	return fmt.Sprintf(`203.0.113.9 - - [%s] "GET %s HTTP/1.1" 200 12`+"\n", at.Format("02/Jan/2006:15:04:05 -0700"), target)
}

// log writes lines at the seconds named, whose targets tell the log and the second.
func log(name string, seconds ...int) []byte {
	var text []byte
	for _, second := range seconds {
		text = append(text, request(second, fmt.Sprintf("/%s%d", name, second))...)
	}
	return text
}

func open(tb testing.TB, o accesslog.Options, names ...string) *accesslog.Reader {
	tb.Helper()
	r, err := accesslog.Open(names, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

// targets reads what is left, without the slashes.
func targets(tb testing.TB, r *accesslog.Reader) string {
	tb.Helper()
	var all []string
	for {
		record, err := r.Next()
		if err == io.EOF {
			return strings.Join(all, " ")
		}
		if err != nil {
			tb.Fatalf("Next: %v, want a record or io.EOF", err)
		}
		all = append(all, strings.TrimPrefix(record.Target, "/"))
	}
}

func checkTargets(t *testing.T, r *accesslog.Reader, want string) {
	t.Helper()
	if got := targets(t, r); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRotatedFilesAreReadInTheOrderOfTheirFirstTimes(t *testing.T) {
	a := writeFile(t, "access.log", log("a", 7, 8, 9))
	b := writeFile(t, "access.log.1.gz", gzipped(t, log("b", 4, 5, 6)))
	c := writeFile(t, "access.log.2.zst", zstdCompressed(t, log("c", 1, 2, 3)))
	checkTargets(t, open(t, accesslog.Options{}, a, b, c), "c1 c2 c3 b4 b5 b6 a7 a8 a9")
}

func TestOverlappingFilesAreMergedByTime(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 1, 4, 7, 20))
	b := writeFile(t, "b.log", log("b", 2, 5, 6))
	c := writeFile(t, "c.log", log("c", 3, 8, 9))
	checkTargets(t, open(t, accesslog.Options{}, c, a, b), "a1 b2 c3 a4 b5 b6 a7 c8 c9 a20")
}

func TestOfEqualTimesTheFileNamedFirstIsFirst(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 1, 2, 2))
	b := writeFile(t, "b.log", log("b", 1, 2))
	checkTargets(t, open(t, accesslog.Options{}, b, a), "b1 a1 b2 a2 a2")
}

func TestWithinAFileTheOrderOfTheLinesIsKept(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 3, 1, 2, 6))
	b := writeFile(t, "b.log", log("b", 4, 5))
	checkTargets(t, open(t, accesslog.Options{}, b, a), "a3 a1 a2 b4 b5 a6")
}

func TestMergedFilesKeepTheirOrderWhateverTheTimes(t *testing.T) {
	var names []string
	var want []int
	for i := range 20 {
		var seconds []int
		for j := range 50 {
			seconds = append(seconds, (i*37+j*j)%3000)
		}
		slices.Sort(seconds)
		want = append(want, seconds...)
		names = append(names, writeFile(t, fmt.Sprint(i), log("", seconds...)))
	}
	slices.Sort(want)
	checkTargets(t, open(t, accesslog.Options{}, names...), strings.Trim(fmt.Sprint(want), "[]"))
}

func TestAFileWhoseFirstTimeIsNotFoundIsMergedAllTheSame(t *testing.T) {
	noise := strings.Repeat(strings.Repeat("x", 1000)+"\n", 1200)
	a := writeFile(t, "a.log", append([]byte(noise), log("a", 2, 4)...))
	b := writeFile(t, "b.log", log("b", 1, 3))
	checkTargets(t, open(t, accesslog.Options{}, b, a), "b1 a2 b3 a4")
}

func TestStandardInputIsMergedWithFiles(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 1, 3))
	stdin := strings.NewReader(string(log("in", 2, 4)))
	checkTargets(t, open(t, accesslog.Options{Stdin: stdin}, a, "-"), "a1 in2 a3 in4")
}

func TestSinceAndUntilLeaveOutWhatIsOutside(t *testing.T) {
	name := writeFile(t, "a.log", log("a", 1, 2, 5, 3, 4, 6))
	o := accesslog.Options{Since: noon.Add(2 * time.Second), Until: noon.Add(4 * time.Second)}
	checkTargets(t, open(t, o, name), "a2 a3")
	o.Until = time.Time{}
	checkTargets(t, open(t, o, name), "a2 a5 a3 a4 a6")
}

func TestProgressCountsBytesOnDisk(t *testing.T) {
	a := gzipped(t, log("a", 1, 2, 3))
	b := log("b", 4)
	r := open(t, accesslog.Options{}, writeFile(t, "a.gz", a), writeFile(t, "b", b))
	size := int64(len(a) + len(b))
	if done, total := r.Progress(); done != 0 || total != size {
		t.Errorf("before reading: Progress() = %d, %d, want 0, %d", done, total, size)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if done, total := r.Progress(); done != int64(len(a)) || total != size {
		t.Errorf("in the first file: Progress() = %d, %d, want %d, %d", done, total, len(a), size)
	}
	targets(t, r)
	if done, total := r.Progress(); done != size || total != size {
		t.Errorf("at the end: Progress() = %d, %d, want %d, %d", done, total, size, size)
	}
}

func TestProgressOfStandardInputHasNoEnd(t *testing.T) {
	text := log("in", 1, 2)
	r := open(t, accesslog.Options{Stdin: strings.NewReader(string(text))}, "-", writeFile(t, "a", log("a", 3)))
	targets(t, r)
	if done, total := r.Progress(); done <= int64(len(text)) || total != 0 {
		t.Errorf("Progress() = %d, %d, want more than %d, 0", done, total, len(text))
	}
}

// checkErr expects an error that joins one for each of the texts, in their order.
func checkErr(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			got = append(got, e.Error())
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got errors %q, want %d", got, len(want))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got error %q, want one that says %q", got[i], want[i])
		}
	}
}

func TestARecordOfAPipeIsGivenAsSoonAsItsLineIsThere(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	r := open(t, accesslog.Options{Stdin: in}, "-")
	for _, target := range []string{"/1", "/2", "/3"} {
		go out.Write([]byte(request(1, target)))
		got := make(chan string, 1)
		go func() {
			record, err := r.Next()
			if err != nil {
				got <- err.Error()
				return
			}
			got <- record.Target
		}()
		select {
		case got := <-got:
			if got != target {
				t.Fatalf("Next() = %s, want %s", got, target)
			}
		case <-time.After(time.Minute):
			t.Fatalf("Next waits for more, want %s", target)
		}
	}
}

func TestAfterCloseThereIsNothing(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 1, 2))
	b := writeFile(t, "b.log", log("b", 5))
	r := open(t, accesslog.Options{}, a, b)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if record, err := r.Next(); err != io.EOF {
		t.Errorf("Next() = %v, %v, want io.EOF", record, err)
	}
	r.Close()
}
