package accesslog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

func TestOnlyOverlappingFilesAreOpenAtOnce(t *testing.T) {
	const descriptors = "/proc/self/fd"
	if _, err := os.Stat(descriptors); err != nil {
		t.Skip("needs Linux's " + descriptors)
	}
	folder := t.TempDir()
	var names []string
	for i := range 30 {
		name := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(name, log("a", 10*i, 10*i+1), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	r := open(t, accesslog.Options{}, names...)
	for range 60 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		open := 0
		links, err := os.ReadDir(descriptors)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if to, _ := os.Readlink(filepath.Join(descriptors, link.Name())); strings.HasPrefix(to, folder) {
				open++
			}
		}
		if open != 1 {
			t.Fatalf("%d files are open, want 1", open)
		}
	}
}

func TestAFileThatIsNamedTwiceIsReadOnce(t *testing.T) {
	name := writeFile(t, "a.log", log("a", 1))
	link := filepath.Join(filepath.Dir(name), "link.log")
	if err := os.Link(name, link); err != nil {
		t.Fatal(err)
	}
	o := accesslog.Options{Stdin: strings.NewReader(string(log("in", 2)))}
	checkTargets(t, open(t, o, name, "-", link, name, "-"), "a1 in2")
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
