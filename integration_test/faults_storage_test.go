package integration

import (
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Warnings about what is kept in Caddy's storage; others are in
// ban_restart_test.go and serve_test.go.
const (
	msgBansNotStored     = "bans could not be stored; a restart would lift them"
	msgFiguresNotStored  = "the figures of the report could not be stored; a restart would forget them"
	msgFiguresUnreadable = "the figures of the report from before the restart cannot be read; they are set aside"
	msgSourceNotStored   = "the answer of a source could not be stored; after a restart it is unknown until the source answers again"
	msgAddressesNotRead  = "the stored addresses of robots cannot be read; a new list will be loaded"
)

const keepingSite = standings + `
http://site.test:{$PORT} {
	robots {
		source url {$UPSTREAM}/robots.txt
		refresh 1s
		verify Googlebot ranges {$UPSTREAM}/googlebot.txt
		impostors refuse
		ban 8 in 1m for 1h
	}
	import standings
}
`

const (
	keepingRules = "User-agent: *\nDisallow: /private/\n"
	untilBanned  = 8
	otherRogue   = "198.51.100.67"
)

// keeping is a Caddy that keeps in a folder everything that the module keeps at all.
type keeping struct {
	*caddy
	upstream *faulty // of its rules and of Googlebot's addresses
	store    string
}

// newKeeping returns such a Caddy, which does not run yet. Its name is in data.
func newKeeping(t *testing.T, upstream *faulty, store, data string) *keeping {
	t.Helper()
	upstream.set("127.0.0.1", listOrRules(keepingRules))
	stored := strings.Replace(proxied, "{\n", "{\n\tstorage file_system {$STORE}\n", 1)
	env := map[string]string{"STORE": store, "UPSTREAM": upstream.URL, "XDG_DATA_HOME": data}
	return &keeping{newCaddy(t, stored+keepingSite, env), upstream, store}
}

// learn runs it until all that it is to keep is stored, and ends it.
func (k *keeping) learn(t *testing.T) {
	t.Helper()
	k.run(t)
	k.misbehave(t, rogue, "site.test", bingbot, untilBanned)
	k.settle(t, "site.test", realAddress, "verified")
	k.expectJudged(t, "/private/")
	k.end(t, syscall.SIGTERM)
	k.checkLog(t)
	k.toldOfNoTrouble(t)
	if got := len(k.contents(t)); got != 4 {
		t.Fatalf("files that are kept: got %d, want those of bans, figures, rules and addresses", got)
	}
}

// listOrRules is an upstream that has both.
func listOrRules(rules string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/googlebot.txt" {
			plain("192.0.2.0/24\n")(w, r)
			return
		}
		plain(rules)(w, r)
	}
}

// contents returns what is kept, by the name of the file in the storage.
func (k *keeping) contents(t *testing.T) map[string]string {
	t.Helper()
	kept := make(map[string]string)
	storage := os.DirFS(k.store)
	err := fs.WalkDir(storage, "robots", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(storage, name)
		kept[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// expectJudged fails the test unless everybody gets what the rules say.
func (k *keeping) expectJudged(t *testing.T, closed string) {
	t.Helper()
	k.expectFrom(t, personal, "site.test", closed, gptbot, 403, "")
	k.expectFrom(t, personal, "site.test", "/page", bingbot, 200, "unverified")
	k.expectFrom(t, personal, "site.test", closed, chrome, 200, "page")
	k.expectFrom(t, realAddress, "site.test", "/page", googlebot, 200, "verified")
	k.expectFrom(t, fakeAddress, "site.test", "/robots.txt", googlebot, 200, "")
}

// smallDisk mounts a disk of a megabyte in memory.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	mount(t, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder)
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return folder
}

// mount skips the test where it may not.
func mount(t *testing.T, args ...string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		skip(t, "a disk of its own takes Linux and root: run as root")
	}
	out, err := exec.Command("mount", args...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "permission denied") {
		skip(t, "root may mount nothing in this container: %s", out)
	}
	if err != nil {
		t.Fatalf("mount %q: %v: %s", args, err, out)
	}
}

// diskFaults are what can be wrong with a disk, and how that ends.
var diskFaults = map[string]struct {
	begin, end func(t *testing.T, folder string)
}{
	"full": {
		func(t *testing.T, folder string) {
			filler, err := os.Create(filepath.Join(folder, "filler"))
			if err != nil {
				t.Fatal(err)
			}
			defer filler.Close()
			for err == nil {
				_, err = filler.Write(make([]byte, 1024))
			}
		},
		func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, "filler")); err != nil {
				t.Fatal(err)
			}
		},
	},
	"read-only": {
		func(t *testing.T, folder string) { mount(t, "-o", "remount,ro", folder) },
		func(t *testing.T, folder string) { mount(t, "-o", "remount,rw", folder) },
	},
}

func TestADiskThatTakesNothingCostsOnlyWhatItWouldHaveKept(t *testing.T) {
	t.Parallel()
	for name, fault := range diskFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeping(t, newFaulty(t), smallDisk(t), t.TempDir())
			k.learn(t)
			whole := k.contents(t)
			fault.begin(t, k.store)

			k.run(t)
			eventually(t, "the figures of before are known", func() bool { return k.seen(t).Requests > 0 })
			known := k.seen(t).Requests
			k.expectBanned(t, rogue, "site.test", bingbot, true)
			for _, closed := range []string{"/second/", "/third/", "/private/"} {
				k.upstream.set("127.0.0.1", listOrRules("User-agent: *\nDisallow: "+closed+"\n"))
				eventually(t, "the new rules hold", func() bool {
					return k.ask(t, request{host: "site.test", path: closed, agent: "PollBot/1.0"}.from(personal)).status == 403
				})
				k.expectJudged(t, closed)
			}
			k.misbehave(t, otherRogue, "site.test", bingbot, untilBanned)
			k.expectBanned(t, otherRogue, "site.test", bingbot, true)
			k.log.wait(t, "bans are not stored", k.ended, message(msgBansNotStored))
			k.end(t, syscall.SIGTERM)
			k.checkLog(t)
			for _, msg := range []string{msgBansNotStored, msgSourceNotStored, msgFiguresNotStored} {
				if got := len(k.log.all(message(msg), field("level", "warn"))); got != 1 {
					t.Errorf("lines %q: got %d, want 1", msg, got)
				}
			}
			for name, text := range k.contents(t) {
				if text != whole[name] {
					t.Errorf("%s was changed by what could not be stored", name)
				}
			}

			k.run(t)
			k.expectBanned(t, rogue, "site.test", bingbot, true)
			k.expectBanned(t, otherRogue, "site.test", bingbot, false)
			k.misbehave(t, otherRogue, "site.test", bingbot, untilBanned)
			fault.end(t, k.store)
			awaitStored(t, k.store, otherRogue, true)
			k.restart(t, syscall.SIGTERM)
			k.toldOfNoTrouble(t)
			k.expectBanned(t, otherRogue, "site.test", bingbot, true)
			eventually(t, "the figures of both are known", func() bool { return k.seen(t).Requests > known })
		})
	}
}

// damages are what may become of a file.
var damages = map[string]func(text string) string{
	"empty":     func(string) string { return "" },
	"cut short": func(text string) string { return text[:len(text)/2] },
	"zeros":     func(text string) string { return strings.Repeat("\x00", len(text)) },
	"garbage": func(text string) string {
		random := rand.New(rand.NewPCG(seed, 9))
		garbage := make([]byte, len(text))
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
		}
		return string(garbage)
	},
	"of another version": func(text string) string {
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			return `{"version": 2, "data": {}}`
		}
		return strings.Replace(text, "1", "9", 1) // in its first line
	},
}

func TestFilesThatAreNotWholeAreToldOfOnceAndDoNoHarm(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	before := newKeeping(t, newFaulty(t), t.TempDir(), data)
	before.learn(t)
	whole := before.contents(t)
	before.run(t) // only to be ended as every Caddy is
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeping(t, before.upstream, t.TempDir(), data)
			for name, text := range whole {
				write(t, filepath.Join(k.store, name), damage(text))
			}
			k.run(t)
			k.settle(t, "site.test", realAddress, "verified")
			k.expectJudged(t, "/private/")
			k.expectBanned(t, rogue, "site.test", bingbot, false)
			k.misbehave(t, otherRogue, "site.test", bingbot, untilBanned)
			known := k.seen(t).Requests
			for name, text := range whole {
				if strings.Contains(name, "/ranges/") {
					eventually(t, "the addresses are stored anew", func() bool {
						stored, err := os.ReadFile(filepath.Join(k.store, name))
						return err == nil && string(stored) != damage(text)
					})
				}
			}
			k.end(t, syscall.SIGTERM)
			k.checkLog(t)
			for _, msg := range []string{msgBansUnreadable, msgFiguresUnreadable, msgSourceUnreadable, msgAddressesNotRead} {
				if got := len(k.log.all(message(msg), field("level", "warn"))); got != 1 {
					t.Errorf("lines %q: got %d, want 1", msg, got)
				}
			}

			k.run(t)
			k.expectBanned(t, otherRogue, "site.test", bingbot, true)
			eventually(t, "the figures of before are known", func() bool { return k.seen(t).Requests >= known })
			k.toldOfNoTrouble(t)
		})
	}
}
