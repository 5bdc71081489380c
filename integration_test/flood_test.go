package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

const (
	floodWorkers = 4
	pipelined    = 50 // requests that one worker sends before it reads the answers

	// What is kept for made-up names is bounded, by number (User-Agents, paces) or in bytes
	// (hosts), so it does not grow with the flood. floodHeap bounds what is still in use after it,
	// in MiB; floodMemory what the process has from the system, which is more by what the
	// garbage collector has not given back.
	floodHeap   = 32 + 60 // the second for the ledger, which takes that at most
	floodMemory = 256

	// shadow is how much more memory a process with the race detector takes.
	shadow = 5
)

// floodSize is how many made-up visitors come.
func floodSize() int {
	if testing.Short() || testutil.Race {
		return 20_000
	}
	return 100_000
}

const floodSite = `
http://steady.test:{$PORT} {
	robots {
		refresh 1h
	}
	handle /robots.txt {
		reverse_proxy {$UPSTREAM}
	}
	respond "page"
}
http://:{$PORT} {
	robots {
		refresh 1h
	}
	respond /robots.txt <<ROBOTS
		User-agent: *
		Crawl-delay: 1
		Disallow: /private/
		ROBOTS
	respond "page"
}
`

func TestAFloodOfMadeUpHostsAndUserAgentsIsBounded(t *testing.T) {
	full(t, "this takes a minute")
	var loads atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		loads.Add(1)
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /steady/\n")
	}))
	defer upstream.Close()
	c := startWith(t, withGlobal(prelude, "\trobots {\n\t\thosts_memory 16MiB\n\t}\n")+floodSite, map[string]string{"UPSTREAM": upstream.URL})
	steady := func() {
		t.Helper()
		c.expect(t, "steady.test", "/steady/", gptbot, 403)
		c.expect(t, "steady.test", "/private/", gptbot, 200)
	}
	steady()
	before := c.memory(t)
	begun := time.Now()

	errs := make(chan error, floodWorkers)
	each := floodSize() / floodWorkers
	for worker := range floodWorkers {
		go func() { errs <- c.flood(worker*each, (worker+1)*each) }()
	}
	for range floodWorkers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	elapsed := time.Since(begun)
	steady()

	after := c.memory(t)
	heap, resident := (after.heap-before.heap)>>20, (after.resident-before.resident)>>20
	t.Logf("%d made-up visitors in %s: heap %d MiB and %d more, resident %d MiB and %d more, %d log lines", floodSize(),
		elapsed.Round(time.Millisecond), before.heap>>20, heap, before.resident>>20, resident, len(c.log.all()))
	maxResident := mostResident(floodMemory)
	if heap > floodHeap || resident > maxResident {
		t.Errorf("%d made-up visitors: the heap grew by %d MiB, want at most %d; the process by %d MiB, want at most %d",
			floodSize(), heap, floodHeap, resident, maxResident)
	}
	if got := loads.Load(); got != 1 {
		t.Errorf("loads of the robots.txt of the host that was there before: got %d, want 1", got)
	}
	// 100 lines of a message are logged in a second, and one in a hundred beyond that.
	refusals := floodSize() / 2
	if got, want := len(c.log.all(message(msgRefused))), 100*int(elapsed.Seconds()+2)+refusals/100; got > want || got == 0 {
		t.Errorf("lines %q for %d refusals in %s: got %d, want 1 to %d", msgRefused, refusals, elapsed, got, want)
	}
	if got := len(c.log.all(message(msgLoaded))); got > 10 {
		t.Errorf("lines %q for two different texts: got %d, want few", msgLoaded, got)
	}
}

// flood sends the requests of the made-up visitors numbered from first up to last, over
// one connection: half of them ask for what is disallowed.
func (c *caddy) flood(first, last int) error {
	conn, err := net.DialTimeout("tcp", c.address(), patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	var batch bytes.Buffer
	for ; first < last; first += pipelined {
		batch.Reset()
		end := min(first+pipelined, last)
		for i := first; i < end; i++ {
			fmt.Fprintf(&batch, "GET %s HTTP/1.1\r\nHost: h%d.test\r\nUser-Agent: made-up-%d-bot/1.0\r\n\r\n", floodPath(i), i, i)
		}
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := conn.Write(batch.Bytes()); err != nil {
			return err
		}
		for i := first; i < end; i++ {
			if err := floodAnswer(answers, i); err != nil {
				return fmt.Errorf("made-up visitor %d: %w", i, err)
			}
		}
	}
	return nil
}

func floodPath(i int) string {
	if i%2 == 1 {
		return "/private/"
	}
	return "/page"
}

func floodAnswer(answers *bufio.Reader, i int) error {
	got, err := readStatus(answers)
	if err != nil {
		return err
	}
	want := 200
	if floodPath(i) == "/private/" {
		want = 403
	}
	if got != want {
		return fmt.Errorf("GET %s: got %d, want %d", floodPath(i), got, want)
	}
	return nil
}

// readStatus reads one answer and returns its status.
func readStatus(answers *bufio.Reader) (int, error) {
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// memory is what a process uses, in bytes.
type memory struct{ heap, resident int64 }

// mostResident is by how many MiB a process may grow that may by so many without the race
// detector.
func mostResident(mebibytes int64) int64 {
	if testutil.Race {
		return mebibytes * shadow
	}
	return mebibytes
}

// expectGrowth fails the test if the process has grown by more than so many MiB.
func (c *caddy) expectGrowth(t *testing.T, before memory, mebibytes int64) {
	t.Helper()
	grown, most := (c.memory(t).resident-before.resident)>>20, mostResident(mebibytes)
	t.Logf("the process grew by %d MiB", grown)
	if grown > most {
		t.Errorf("the process grew by %d MiB, want at most %d", grown, most)
	}
}

// memory returns what the process uses after a garbage collection.
func (c *caddy) memory(t *testing.T) memory {
	t.Helper()
	profile := c.adminGet(t, "/debug/pprof/heap?gc=1&debug=1")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Pid))
	if err != nil {
		skip(t, "the memory of a process cannot be read here: %v", err)
	}
	return memory{heap: numberAfter(t, profile, "# HeapAlloc = "), resident: numberAfter(t, string(status), "VmRSS:") << 10}
}

// numberAfter returns the number that follows a label in text.
func numberAfter(t *testing.T, text, label string) int64 {
	t.Helper()
	_, rest, found := strings.Cut(text, label)
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		t.Fatalf("no %q in %.200q", label, text)
	}
	number, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		t.Fatalf("%s %v", label, err)
	}
	return number
}
