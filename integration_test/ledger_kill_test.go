package integration

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const loadedSite = `
http://:{$PORT} {
	robots {
		source text <<TXT
			User-agent: *
			Disallow: /private/
			TXT
	}
	respond "page"
}
`

// load is a few robots that ask one Caddy for one page after the other.
type load struct {
	started  atomic.Int64 // requests
	answered atomic.Int64
	stop     chan struct{}
	robots   sync.WaitGroup
}

// loadOn begins to load a Caddy. Robots whose Caddy is gone end.
func loadOn(c *caddy) *load {
	l := &load{stop: make(chan struct{})}
	for _, agent := range []string{gptbot, bingbot, "CCBot/2.0", "<script>alert(1)</script>bot/1.0"} {
		visitor := &http.Client{Timeout: patience, Transport: &http.Transport{}}
		l.robots.Go(func() {
			defer visitor.CloseIdleConnections()
			for i := 0; ; i++ {
				select {
				case <-l.stop:
					return
				default:
				}
				path := [...]string{"/", "/page", "/private/one", "/private/two"}[i%4]
				l.started.Add(1)
				if _, err := (request{path: path, agent: agent}).try(visitor, "http://"+c.address()); err != nil {
					return
				}
				l.answered.Add(1)
			}
		})
	}
	return l
}

// end ends the load and returns how many requests were started and answered.
func (l *load) end() (started, answered int64) {
	close(l.stop)
	l.robots.Wait()
	return l.started.Load(), l.answered.Load()
}

// reach waits until so many requests were answered.
func (l *load) reach(t *testing.T, answered int64) {
	t.Helper()
	eventually(t, "the load is answered", func() bool { return l.answered.Load() >= answered })
}

// ledgerFile is where the ledger is in the storage.
func (c *caddy) ledgerFile(t *testing.T) string {
	t.Helper()
	data := filepath.Join(c.home, "data", "caddy")
	id, err := os.ReadFile(filepath.Join(data, "instance.uuid"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(data, "robots", "ledger", strings.TrimSpace(string(id)))
}

// requestsStored returns how many requests the ledger in the storage has, 0 where there is none.
// A ledger that cannot be read fails the test.
func (c *caddy) requestsStored(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(c.ledgerFile(t))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	ledger := compliance.NewLedger(compliance.Options{})
	if err := ledger.Unmarshal(text); err != nil {
		t.Fatalf("the ledger in the storage: %v", err)
	}
	return int64(ledger.Snapshot(time.Now()).Total.Requests)
}

// fullLedger is a ledger of a thousand robots, which takes its time to be stored.
func fullLedger() *compliance.Ledger {
	ledger := compliance.NewLedger(compliance.Options{})
	for i := range 12_000 {
		path := "/private/" + strings.Repeat("x", 100) + strconv.Itoa(i)
		ledger.Note(&compliance.Event{
			Time: time.Now(), Site: "site.test", Robot: "Bot" + strconv.Itoa(i%1000), Class: "robot", Verdict: compliance.Disallowed,
			Refused: true, Record: "*", Line: 2, Rule: "Disallow: /private/", Method: "GET", Path: path, Address: "203.0.113.7", Status: 403,
		})
	}
	return ledger
}

// toldOfNoTrouble fails the test if the log tells of something that could not be read from the
// storage or stored there.
func (c *caddy) toldOfNoTrouble(t *testing.T) {
	t.Helper()
	for _, l := range c.log.all(func(l line) bool { return l.text("storage_key") != "" }) {
		t.Errorf("the log tells of trouble with the storage: %v", l)
	}
}

// A Caddy under load is killed, over and over: at any moment, and while it stores its ledger
// because it ends. In between it ends in peace, and then the ledger has each request.
func TestALedgerOutlivesAKillAtAnyMoment(t *testing.T) {
	full(t, "this takes a minute")
	t.Parallel()
	const rounds = 20
	c := start(t, loadedSite, nil)
	c.end(t, syscall.SIGTERM)
	write(t, c.ledgerFile(t), string(fullLedger().Marshal()))
	c.run(t)
	least, most := c.requestsStored(t), c.requestsStored(t) // requests that the ledger may have
	cut, whole := 0, 0                                      // how many of the Caddys that were killed while they ended had stored it not, or had
	untilStored := 4 * time.Millisecond                     // about, from the signal to end
	for round := range rounds {
		l := loadOn(c)
		l.reach(t, 100+int64(round)*10)
		kind := [...]string{"in peace", "while it ends", "at once", "while it ends"}[round%4]
		var started, answered int64
		switch kind {
		case "in peace":
			started, answered = l.end()
			c.end(t, syscall.SIGTERM)
		case "while it ends":
			_ = c.process.Signal(syscall.SIGTERM)
			<-time.After(untilStored)
			c.end(t, syscall.SIGKILL)
			started, _ = l.end()
		case "at once":
			c.end(t, syscall.SIGKILL)
			started, _ = l.end()
		}
		c.toldOfNoTrouble(t)
		c.checkLog(t)

		least, most = least+answered, most+started
		got := c.requestsStored(t)
		if got < least || got > most {
			t.Fatalf("round %d, ended %s: the ledger has %d requests, want %d to %d", round, kind, got, least, most)
		}
		if kind == "while it ends" {
			// The next is killed a little earlier or later, so that they are killed about when they store.
			if got > least {
				whole++
				untilStored /= 2
			} else {
				cut++
				untilStored *= 4
			}
		}
		least, most = got, got
		c.run(t)
	}
	c.toldOfNoTrouble(t)
	if cut == 0 || whole == 0 {
		t.Errorf("of those killed while they ended, %d had not stored their ledger and %d had; want some of each", cut, whole)
	}
	t.Logf("%d rounds, %d requests in the ledger; killed while they ended: %d before the ledger was stored, %d after it", rounds, least, cut, whole)
}

// A Caddy that runs under load for a minute is killed: at most the last 45 seconds are lost.
func TestAKilledCaddyLosesLessThanAMinute(t *testing.T) {
	full(t, "this takes a minute")
	t.Parallel()
	const mayLose, afterStored = 45 * time.Second, 25 * time.Second
	c := start(t, loadedSite, nil)
	l := loadOn(c)
	began := time.Now()
	eventually(t, "the ledger is stored", func() bool { return c.requestsStored(t) > 0 })
	atStored := time.Since(began)

	// What must not be lost is what was answered so long before the kill.
	killAt := began.Add(atStored + afterStored)
	var old int64
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for now := range tick.C {
		if now.Before(killAt.Add(-mayLose)) {
			old = l.answered.Load()
		}
		if !now.Before(killAt) {
			break
		}
	}
	c.end(t, syscall.SIGKILL)
	_, answered := l.end()
	c.checkLog(t)
	if got := c.requestsStored(t); got < old || got > answered {
		t.Errorf("the ledger has %d requests, want %d, which are older than %s, to %d", got, old, mayLose, answered)
	}
	c.run(t)
	c.toldOfNoTrouble(t)
}

// A reload keeps the ledger, also one to a config without robots and back, and an ordinary end
// stores all of it.
func TestAReloadLosesNothingOfTheLedger(t *testing.T) {
	t.Parallel()
	c := start(t, loadedSite, nil)
	sent := int64(0)
	send := func() {
		for range 5 {
			c.expect(t, "", "/private/one", gptbot, 403)
			sent++
		}
	}
	send()
	for _, sites := range []string{
		strings.Replace(loadedSite, `"page"`, `"another page"`, 1),
		"http://:{$PORT} {\n\trespond \"no robots here\"\n}\n",
		loadedSite,
	} {
		if status, body, err := c.load(sites); err != nil || status != 200 {
			t.Fatalf("reload: got status %d, %q, %v", status, body, err)
		}
		if strings.Contains(sites, "robots {") {
			send()
		}
	}
	c.end(t, syscall.SIGTERM)
	if got := c.requestsStored(t); got != sent {
		t.Errorf("the ledger has %d requests, want the %d that were sent", got, sent)
	}
	c.run(t)
	c.toldOfNoTrouble(t)
}
