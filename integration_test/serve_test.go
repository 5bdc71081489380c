package integration

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// served is a site whose robots.txt is its own text and a list of somebody else's.
const served = `
http://:{$PORT} {
	encode zstd gzip
	robots {
		source text <<ROBOTS
			User-agent: *
			Disallow: /private/
			ROBOTS
		source url {$LIST}/list.txt {
			only_disallow_all
		}
		max_size 64KiB
		refresh 1s
		serve
	}
	respond "page"
}
`

// compressed lets encode stand around robots.
var compressed = strings.Replace(prelude, "{\n", "{\n\torder encode before robots\n", 1)

// listOf is a list with a robot of its own for each version, and lines that do not pass.
func listOf(version int) string {
	return fmt.Sprintf("# version %d\n\nUser-agent: Version%dBot\nUser-agent: GPTBot\nDisallow: /\n\n"+
		"User-agent: *\nDisallow: /page\n\n%s", version, version, strings.Repeat("# it goes on and on\n", 40))
}

// startServing runs the site with a list that the test changes, and returns when both parts
// are in force.
func startServing(t *testing.T, first http.HandlerFunc) (*caddy, *faulty) {
	t.Helper()
	list := newFaulty(t)
	list.set("127.0.0.1", first)
	c := startWith(t, compressed+served, map[string]string{"LIST": list.URL})
	eventually(t, "the list is in force", func() bool { return c.status(t, "", "/page") == 403 })
	return c, list
}

func TestServedRulesAreOneTextOfTheirParts(t *testing.T) {
	t.Parallel()
	c, list := startServing(t, plain(listOf(1)))
	a := c.expect(t, "", "/robots.txt", curl, 200)
	want := "# from this site\nUser-agent: *\nDisallow: /private/\n\n# from " + list.URL + "/list.txt\n# version 1\n\n" +
		"User-agent: Version1Bot\nUser-agent: GPTBot\nDisallow: /\n\n" + strings.Repeat("# it goes on and on\n", 40)
	if a.body != want {
		t.Errorf("robots.txt: got\n%s\nwant\n%s", a.body, want)
	}
	for name, want := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=1"} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	refusal := c.expect(t, "", "/page", gptbot, 403).body
	if want := "Line 10:    Disallow: /\n"; !strings.Contains(refusal, want) {
		t.Errorf("the refusal says %q, want it to name the line as it is served: %q", refusal, want)
	}
	c.expect(t, "", "/page", bingbot, 200)
	c.expect(t, "", "/private/", bingbot, 403)
	if got := len(c.log.all(message("robots.txt diagnostic"))); got != 0 {
		t.Errorf("warnings about the text: got %d, want none", got)
	}
}

func TestServedRulesAreRevalidated(t *testing.T) {
	t.Parallel()
	c, _ := startServing(t, plain(listOf(1)))
	look := request{path: "/robots.txt", agent: curl, header: http.Header{"Accept-Encoding": {"identity"}}}
	a := c.ask(t, look)
	etag, modified := a.header.Get("ETag"), a.header.Get("Last-Modified")
	for _, tt := range []struct {
		method, name, value string
		want                int
	}{
		{"GET", "If-None-Match", etag, 304}, {"GET", "If-None-Match", `"other"`, 200},
		{"GET", "If-Modified-Since", modified, 304}, {"GET", "If-Modified-Since", "Sun, 01 Nov 2015 12:00:00 GMT", 200},
		{"HEAD", "If-None-Match", etag, 304}, {"HEAD", "Accept", "*/*", 200}, {"GET", "Range", "bytes=0-15", 206},
	} {
		got := c.ask(t, request{method: tt.method, path: "/robots.txt", agent: gptbot, header: http.Header{"Accept-Encoding": {"identity"}, tt.name: {tt.value}}})
		if got.status != tt.want {
			t.Errorf("%s with %s: %s: got %d, want %d", tt.method, tt.name, tt.value, got.status, tt.want)
		}
		if whole := tt.method == "GET" && tt.want == 200; (got.body == a.body) != whole {
			t.Errorf("%s with %s: %s: the whole body is there: got %t, want %t", tt.method, tt.name, tt.value, !whole, whole)
		}
		if tt.want == 206 && got.body != a.body[:16] {
			t.Errorf("range: got %q, want %q", got.body, a.body[:16])
		}
	}
	if status, body, err := c.loadWhole(strings.Replace(compressed+served, `"page"`, `"another page"`, 1)); err != nil || status != 200 {
		t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
	}
	again := c.ask(t, look)
	if again.header.Get("ETag") != etag || again.header.Get("Last-Modified") != modified {
		t.Errorf("after a reload: got %q of %q, want %q of %q", again.header.Get("ETag"), again.header.Get("Last-Modified"), etag, modified)
	}
}

func TestServedRulesAreCompressedByEncode(t *testing.T) {
	t.Parallel()
	c, _ := startServing(t, plain(listOf(1)))
	want := c.expect(t, "", "/robots.txt", curl, 200).body
	for coding, decode := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		header := http.Header{"Accept-Encoding": {coding}}
		a := c.ask(t, request{path: "/robots.txt", agent: gptbot, header: header})
		if got := a.header.Get("Content-Encoding"); got != coding || !strings.Contains(a.header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("asked for %s: got Content-Encoding %q, Vary %q", coding, got, a.header.Get("Vary"))
			continue
		}
		r, err := decode(strings.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want the text", coding, got, err)
		}
		header.Set("If-None-Match", a.header.Get("ETag"))
		if got := c.ask(t, request{path: "/robots.txt", agent: gptbot, header: header}).status; got != 304 {
			t.Errorf("%s revalidated with %s: got %d, want 304", coding, a.header.Get("ETag"), got)
		}
	}
}

// witness compares what robots.txt says with what is enforced.
type witness struct {
	compared, across atomic.Int64
	mu               sync.Mutex // guards wrong
	wrong            []string   // at most a few
}

// look asks for a page between two looks at robots.txt. Where both saw the same version, the
// page was judged by it.
func (w *witness) look(c *caddy, robot string) error {
	base := "http://" + c.address()
	before, err := request{path: "/robots.txt", agent: robot}.try(client, base)
	if err != nil {
		return err
	}
	page, err := request{path: "/page", agent: robot}.try(client, base)
	if err != nil {
		return err
	}
	after, err := request{path: "/robots.txt", agent: robot}.try(client, base)
	if err != nil {
		return err
	}
	if before.version() != after.version() {
		w.across.Add(1)
		return nil
	}
	file := robotsrules.Parse([]byte(before.body), robotsrules.Options{MaxBytes: len(before.body) + 1})
	policy := robotsrules.Compile(file, robotsrules.MatchSubstring)
	want := 200
	if !policy.Bind(robotsrules.Robot{UserAgent: robot}).Decide("/page").Allowed() {
		want = 403
	}
	w.compared.Add(1)
	if page.status != want {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.wrong) < 5 {
			w.wrong = append(w.wrong, fmt.Sprintf("%s: got %d, but %s says %d:\n%.300s", robot, page.status, before.version(), want, before.body))
		}
	}
	return nil
}

// version tells one robots.txt from another, also when an earlier text comes back.
func (a answer) version() string {
	return a.header.Get("ETag") + " of " + a.header.Get("Last-Modified")
}

func TestWhatIsToldAndWhatIsEnforcedChangeTogether(t *testing.T) {
	t.Parallel()
	c, list := startServing(t, plain(listOf(1)))
	var w witness
	var watch sync.WaitGroup
	var version atomic.Int64
	version.Store(1)
	stop := make(chan struct{})
	for range 4 {
		watch.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				robot := fmt.Sprintf("Mozilla/5.0 (compatible; Version%dBot/1.0; +https://bots.example/)", version.Load()+int64(n%3)-1)
				if err := w.look(c, robot); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}

	of := func(text string) bool {
		return strings.Contains(c.ask(t, request{path: "/robots.txt", agent: curl}).body, text)
	}
	const page = "<!doctype html>\n<html><body>\nUser-agent: *\nDisallow: /\n</body></html>\n"
	for n, fault := range []struct {
		name   string
		answer http.HandlerFunc
		keeps  bool // what held before
	}{
		{"500", broken, true}, {"closed", closed, true}, {"circle", circle, true}, {"cut", cut, true},
		{"page", plain(page), true}, {"404", http.NotFound, false}, {"empty", plain(""), false},
		{"10 MB", plain(listOf(100) + strings.Repeat("# filler of ten megabytes\n", 10<<20/26) + "User-agent: LastBot\nDisallow: /\n"), false},
	} {
		next := n + 2
		version.Store(int64(next))
		list.set("127.0.0.1", plain(listOf(next)))
		robot := fmt.Sprintf("Version%dBot", next)
		eventually(t, robot+" is told", func() bool { return of(robot) })

		before := c.ask(t, request{path: "/robots.txt", agent: curl}).version()
		list.set("127.0.0.1", fault.answer)
		asked := list.times("127.0.0.1")
		eventually(t, "the list was looked at twice", func() bool { return list.times("127.0.0.1") >= asked+3 })
		if kept := c.ask(t, request{path: "/robots.txt", agent: curl}).version() == before; kept != fault.keeps {
			t.Errorf("%s: the text before is kept: got %t, want %t", fault.name, kept, fault.keeps)
		}
		if fault.name == "10 MB" && (!of("Version100Bot") || of("LastBot")) {
			t.Error("10 MB: want its beginning, and no more")
		}
	}
	close(stop)
	watch.Wait()
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
	if w.compared.Load() < 100 {
		t.Errorf("compared: got %d requests, want at least 100", w.compared.Load())
	}
	t.Logf("%d requests compared, %d across a change", w.compared.Load(), w.across.Load())
}

// Messages about what the storage keeps of lists.
const msgSourceUnreadable = "the stored answer of this source cannot be read; it is set aside"

func TestAListThatIsAwayAfterARestartHoldsAllTheSame(t *testing.T) {
	t.Parallel()
	var conditions atomic.Pointer[string]
	tagged := func(w http.ResponseWriter, r *http.Request) {
		condition := r.Header.Get("If-None-Match")
		conditions.Store(&condition)
		w.Header().Set("ETag", `"v1"`)
		if condition == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, listOf(1))
	}
	c, list := startServing(t, tagged)
	text := c.expect(t, "", "/robots.txt", curl, 200).body
	stored := func() []string {
		names, err := filepath.Glob(filepath.Join(c.home, "data", "caddy", "robots", "sources", "*.json")) // and no file that is being written
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	eventually(t, "the list is stored", func() bool { return len(stored()) == 1 })

	c.restart(t, syscall.SIGKILL)
	eventually(t, "the list is in force", func() bool { return c.status(t, "", "/page") == 403 })
	if got := *conditions.Load(); got != `"v1"` {
		t.Errorf("If-None-Match after a restart: got %q, want %q", got, `"v1"`)
	}

	list.set("127.0.0.1", broken)
	c.restart(t, syscall.SIGTERM)
	eventually(t, "the list is in force", func() bool { return c.status(t, "", "/page") == 403 })
	if got := c.expect(t, "", "/robots.txt", curl, 200).body; got != text {
		t.Errorf("robots.txt after a restart: got %q, want %q", got, text)
	}
	c.log.wait(t, "the list is away", c.ended, message(msgUnavailable))

	file := stored()[0]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(bytes.TrimSpace(data[:len(data)/2])))
	c.restart(t, syscall.SIGTERM)
	c.log.wait(t, "what is stored cannot be read", c.ended, message(msgSourceUnreadable))
	c.expect(t, "", "/page", gptbot, 200)
	c.expect(t, "", "/private/", bingbot, 403)
	names, err := filepath.Glob(file + ".unreadable-*")
	if err != nil || len(names) != 1 {
		t.Fatalf("what is broken: got %q kept aside, error %v, want one file", names, err)
	}
	if aside, err := os.ReadFile(names[0]); err != nil || len(aside) == 0 || !bytes.HasPrefix(data, aside) {
		t.Errorf("what is broken is not kept aside: %v", err)
	}
	list.set("127.0.0.1", tagged)
	eventually(t, "the list is in force", func() bool { return c.status(t, "", "/page") == 403 })
}
