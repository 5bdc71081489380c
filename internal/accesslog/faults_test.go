package accesslog_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

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

func TestAMissingFileIsNamedAndTheOthersAreRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.log")
	r := open(t, accesslog.Options{}, missing, writeFile(t, "a.log", log("a", 1)))
	checkTargets(t, r, "a1")
	checkErr(t, r.Err(), missing)
	if !errors.Is(r.Err(), fs.ErrNotExist) {
		t.Errorf("Err() = %v, want one that is fs.ErrNotExist", r.Err())
	}
}

func TestOpenFailsIfNothingCanBeRead(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "missing.log")
	_, err := accesslog.Open([]string{missing, folder, "-"}, accesslog.Options{})
	checkErr(t, err, missing, folder+": a directory: name the files in it", "there is no standard input here")
	if _, err := accesslog.Open(nil, accesslog.Options{}); err == nil || !strings.Contains(err.Error(), "no log was named") {
		t.Errorf("Open(nil) = %v, want an error that says that no log was named", err)
	}
}

func TestWhatComesBeforeTheCutOfACompressedFileIsRead(t *testing.T) {
	text, n := logOf(caddyLine, 1<<20)
	for name, whole := range map[string][]byte{"cut.gz": gzipped(t, text), "cut.zst": zstdCompressed(t, text)} {
		t.Run(name, func(t *testing.T) {
			r := open(t, accesslog.Options{}, writeFile(t, name, whole[:len(whole)*2/3]))
			got := readAll(t, r)
			if len(got.records) < n/4 || len(got.records) >= n {
				t.Errorf("got %d records, want a good part of %d", len(got.records), n)
			}
			if got.n != 0 {
				t.Errorf("got unreadable lines %v, want the cut told once, as an error", got.problems)
			}
			checkErr(t, got.err, name+": after line ")
			checkErr(t, got.err, "ends too early")
		})
	}
}

func TestADamagedCompressedFileIsToldOnce(t *testing.T) {
	text, _ := logOf(caddyLine, 1<<20)
	for name, content := range map[string][]byte{"bad.gz": gzipped(t, text), "bad.zst": zstdCompressed(t, text)} {
		t.Run(name, func(t *testing.T) {
			copy(content[len(content)/2:], bytes.Repeat([]byte{0xff}, 200))
			r := open(t, accesslog.Options{}, writeFile(t, name, content), writeFile(t, "a.log", log("a", 1)))
			if got := targets(t, r); !strings.Contains(got, "a1") {
				t.Errorf("got %.80s, want a1 to be among them", got)
			}
			checkErr(t, r.Err(), name)
		})
	}
}

func TestAFileThatIsAllCutOffHasNoRecords(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "cut.gz", []byte{0x1f, 0x8b, 8}), writeFile(t, "a.log", log("a", 1)))
	checkTargets(t, r, "a1")
	checkErr(t, r.Err(), "cut.gz: ends too early")
}

func TestOtherCompressionsAreNamed(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "a.gz", []byte("\xfd7zXZ\x00...")), writeFile(t, "b.log", log("b", 1)))
	checkTargets(t, r, "b1")
	checkErr(t, r.Err(), "a.gz: compressed with xz: decompress it first")
}

func TestConcatenatedGzipFilesAreOneLog(t *testing.T) {
	both := append(gzipped(t, log("a", 1)), gzipped(t, log("b", 2))...)
	checkTargets(t, open(t, accesslog.Options{}, writeFile(t, "ab.gz", both)), "a1 b2")
}

func TestContentTellsTheCompressionAndNotTheName(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "a.log", gzipped(t, log("a", 1))), writeFile(t, "b.gz", log("b", 2)))
	checkTargets(t, r, "a1 b2")
	if r.Err() != nil {
		t.Errorf("Err() = %v, want nil", r.Err())
	}
}

func TestStandardInputMayBeCompressed(t *testing.T) {
	o := accesslog.Options{Stdin: bytes.NewReader(zstdCompressed(t, log("in", 1, 2)))}
	checkTargets(t, open(t, o, "-"), "in1 in2")
}

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
		t.Errorf("got %d octets of targets, want %d", len(got), len(target)+1)
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

func TestTheFirstFiveProblemsAreKept(t *testing.T) {
	name := writeFile(t, "bad.log", []byte(strings.Repeat("\x1b[31m\u00e9"+strings.Repeat("z", 100)+"\n", 7)))
	r := open(t, accesslog.Options{}, name)
	checkTargets(t, r, "")
	n, first := r.Unreadable()
	if n != 7 || len(first) != 5 {
		t.Fatalf("Unreadable() = %d, %d problems, want 7, 5", n, len(first))
	}
	want := name + `:5: ` + notALog + `: "\x1b[31m\u00e9` + strings.Repeat("z", 73) + `"...`
	if got := first[4].String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestAnExcerptOfAShortLineIsAllOfIt(t *testing.T) {
	for length, end := range map[int]string{79: `z"`, 80: `z"`, 81: `z"...`} {
		r := open(t, accesslog.Options{}, writeFile(t, "bad.log", bytes.Repeat([]byte("z"), length)))
		checkTargets(t, r, "")
		if _, first := r.Unreadable(); len(first) != 1 || !strings.HasSuffix(first[0].Excerpt, end) {
			t.Errorf("%d octets: got problems %v, want one that ends with %s", length, first, end)
		}
	}
}

func TestAFileThatWasReplacedIsNotReadInAnothersStead(t *testing.T) {
	a := writeFile(t, "a.log", log("a", 1))
	b := writeFile(t, "b.log", log("b", 2))
	r := open(t, accesslog.Options{}, a, b)
	if err := os.Rename(b, b+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, log("new", 3), 0o600); err != nil {
		t.Fatal(err)
	}
	checkTargets(t, r, "a1")
	checkErr(t, r.Err(), "b.log: another file has taken its place")
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
