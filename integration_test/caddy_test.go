// Package integration runs the Caddy of this tree as a process of its own and talks to it
// over real sockets, as site owners, people and robots do. It holds tests only.
//
// The Caddyfiles in here are as an owner would write them. What differs from run to run
// comes in by environment: {$PORT} and {$PORT2} to listen at, {$ADMIN} for the admin
// endpoint, and whatever else a test names.
package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

const (
	// patience bounds every wait for something that is to happen.
	patience = 60 * time.Second

	// farewell bounds the wait for Caddy to end by itself. With the race detector on a busy
	// machine, to store a large ledger takes seconds.
	farewell = patience

	// atOnce is how many parallel tests run at a time, unless -parallel says so.
	atOnce = 4
)

// binary is a program of this tree, which is built once.
type binary struct {
	folder string // of its source
	once   sync.Once
	dir    string
	err    error
}

var (
	ordinary  = binary{folder: "./cmd/caddy"}
	panicking = binary{folder: "./integration_test/testdata/panicking"}
)

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait for other processes more than they compute: go test itself runs one on each core.
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue && runtime.GOMAXPROCS(0) < atOnce {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, b := range []*binary{&ordinary, &panicking} {
		if b.dir != "" {
			os.RemoveAll(b.dir)
		}
	}
	os.Exit(code)
}

// caddyBinary builds ./cmd/caddy once and returns its path. It has the race detector in
// it where the tests have.
func caddyBinary(tb testing.TB) string {
	tb.Helper()
	return ordinary.build(tb)
}

func (b *binary) build(tb testing.TB) string {
	tb.Helper()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "caddy-robots-"); b.err != nil {
			return
		}
		args := []string{"build", "-o", filepath.Join(b.dir, "caddy")}
		if testutil.Race {
			args = append(args, "-race")
		}
		build := exec.Command("go", append(args, b.folder)...)
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("go %s %s: %w\n%s", strings.Join(args, " "), b.folder, err, out)
		}
	})
	if b.err != nil {
		tb.Fatal(b.err)
	}
	return filepath.Join(b.dir, "caddy")
}

// caddy is a running Caddy. Its methods are safe for concurrent use, but for restart.
type caddy struct {
	log     *logbook
	home    string
	env     map[string]string
	program []string // what runs, with what comes before Caddy's own arguments; nil: the Caddy of this tree
	panics  bool     // what stands behind robots panics, and the log may say so
	process *os.Process
	ended   chan struct{} // closed when the process is gone
}

// start runs a Caddyfile whose global options are those of prelude, until the test ends.
func start(tb testing.TB, sites string, env map[string]string) *caddy {
	tb.Helper()
	return startWith(tb, prelude+sites, env)
}

// prelude is the global options of most tests.
const prelude = `{
	admin {$ADMIN}
	auto_https off
	grace_period 2s
}
`

// withGlobal is a Caddyfile with one more global option.
func withGlobal(caddyfile, option string) string {
	return strings.Replace(caddyfile, "{\n", "{\n"+option, 1)
}

// startWith runs a whole Caddyfile in the root of the repository until the test ends, and
// returns when it answers.
func startWith(tb testing.TB, caddyfile string, env map[string]string) *caddy {
	tb.Helper()
	c := newCaddy(tb, caddyfile, env)
	c.run(tb)
	return c
}

// newCaddy returns a Caddy that does not run yet.
func newCaddy(tb testing.TB, caddyfile string, env map[string]string) *caddy {
	tb.Helper()
	c := &caddy{
		home: tb.TempDir(),
		env:  map[string]string{"PORT": holdPort(tb), "PORT2": holdPort(tb), "ADMIN": "127.0.0.1:" + holdPort(tb)},
	}
	maps.Copy(c.env, env)
	write(tb, filepath.Join(c.home, "Caddyfile"), caddyfile)
	return c
}

// run starts the process, with a new log, and returns when it answers.
func (c *caddy) run(tb testing.TB) {
	tb.Helper()
	ended := make(chan struct{})
	c.log, c.ended = newLogbook(), ended

	program := c.program
	if program == nil {
		program = []string{caddyBinary(tb)}
	}
	run := exec.Command(program[0], append(program[1:len(program):len(program)], "run", "--config", filepath.Join(c.home, "Caddyfile"), "--adapter", "caddyfile")...)
	run.Dir = ".."
	run.Env = c.environment()
	run.Stderr = c.log
	if err := run.Start(); err != nil {
		tb.Fatalf("starting caddy: %v", err)
	}
	first := c.process == nil
	c.process = run.Process
	go func() {
		_ = run.Wait() // how it ended shows in the log
		close(ended)
	}()
	if first {
		tb.Cleanup(func() { c.close(tb) })
	}
	c.log.wait(tb, "the configuration is served", c.ended, message("serving initial configuration"))
	c.ownsPort(tb, c.env["PORT"])
}

// restart ends the process with a signal and starts another one with the same files at the
// same ports.
func (c *caddy) restart(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	c.end(tb, signal)
	c.checkLog(tb)
	c.run(tb)
}

// environment is the process's own: nothing of the developer's Caddy is read or written.
func (c *caddy) environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home,
		"XDG_DATA_HOME=" + filepath.Join(c.home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(c.home, "config"),
	}
	for name, value := range c.env {
		env = append(env, name+"="+value)
	}
	return env
}

// close ends the process, and fails the test if the log tells of a defect that no client
// may have noticed.
func (c *caddy) close(tb testing.TB) {
	select {
	case <-c.ended:
		tb.Error("caddy ended before the test did")
	default:
		c.end(tb, syscall.SIGTERM)
	}
	c.checkLog(tb)
}

// checkLog fails the test if the log of the process, which has ended, tells of a defect.
func (c *caddy) checkLog(tb testing.TB) {
	text := c.log.String()
	for _, defect := range []string{"WARNING: DATA RACE", "panic serving", "goroutine 1 [", `"level":"panic"`} {
		if c.panics && defect == "panic serving" {
			continue
		}
		if strings.Contains(text, defect) {
			tb.Errorf("the log holds %q", defect)
		}
	}
	if tb.Failed() {
		tb.Logf("log of caddy:\n%s", tail(text, 20_000))
	}
}

// end sends the process a signal and returns when it is gone.
func (c *caddy) end(tb testing.TB, signal syscall.Signal) {
	_ = c.process.Signal(signal) // it may be gone already
	select {
	case <-c.ended:
		return
	case <-time.After(farewell):
	}
	tb.Errorf("caddy did not end within %s of a signal: %s; what it does is in its log", farewell, signal)
	_ = c.process.Signal(syscall.SIGABRT)
	select {
	case <-c.ended:
	case <-time.After(farewell):
		_ = c.process.Kill()
		<-c.ended
	}
}

// alive tells whether the process still runs.
func (c *caddy) alive() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// address is where the sites of the first port are.
func (c *caddy) address() string { return "127.0.0.1:" + c.env["PORT"] }

// load gives Caddy another Caddyfile with the usual prelude, and returns what the admin
// endpoint says to it.
func (c *caddy) load(sites string) (status int, body string, err error) {
	return c.loadWhole(prelude + sites)
}

// loadWhole gives Caddy another whole Caddyfile. A reload ends the admin endpoint that it came to, at
// times before that has answered. Then it is given once more, which changes nothing.
func (c *caddy) loadWhole(caddyfile string) (status int, body string, err error) {
	load := func() (*http.Response, error) {
		return http.Post("http://"+c.env["ADMIN"]+"/load", "text/caddyfile", strings.NewReader(caddyfile))
	}
	resp, err := load()
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
		resp, err = load()
	}
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// adminGet returns what the admin endpoint answers at path.
func (c *caddy) adminGet(tb testing.TB, path string) string {
	tb.Helper()
	status, text := c.adminAsk(tb, http.MethodGet, path)
	if status != http.StatusOK {
		tb.Fatalf("admin %s: status %d: %s", path, status, text)
	}
	return text
}

// adminAsk sends a request without a body to the admin endpoint, and returns what it answers.
func (c *caddy) adminAsk(tb testing.TB, method, path string) (status int, body string) {
	tb.Helper()
	a, err := request{method: method, path: path}.try(client, "http://"+c.env["ADMIN"])
	if err != nil {
		tb.Fatal(err)
	}
	return a.status, a.body
}

// ownsPort fails the test unless exactly one socket listens at port. Caddy listens with
// SO_REUSEPORT: two of them would share it unnoticed and each answer half the requests.
func (c *caddy) ownsPort(tb testing.TB, port string) {
	tb.Helper()
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		tb.Fatal(err)
	}
	tables := 0
	listeners := 0
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			continue // not Linux, or without IPv6
		}
		tables++
		for line := range bytes.Lines(table) {
			fields := strings.Fields(string(line))
			const listening = "0A"
			if len(fields) > 3 && fields[3] == listening && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", number)) {
				listeners++
			}
		}
	}
	if tables > 0 && listeners != 1 {
		tb.Fatalf("%d sockets listen at port %s, want 1", listeners, port)
	}
}

// ports are the ones this process gave out: none is given out twice.
var ports sync.Map

// freePort returns a port that nobody listens at.
func freePort(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			tb.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		l.Close()
		if err != nil {
			tb.Fatal(err)
		}
		if _, taken := ports.LoadOrStore(port, true); !taken {
			return port
		}
	}
	tb.Fatal("no free port in 100 attempts")
	return ""
}

// eventually waits until condition holds.
func eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// write makes a file, and its folder where need be.
func write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// tail returns at most the last n bytes of text.
func tail(text string, n int) string { return text[max(0, len(text)-n):] }

// robotComes has a robot ask for a page of a host, whose rules are looked at again if they are due.
func (c *caddy) robotComes(t *testing.T, host string) {
	t.Helper()
	c.status(t, host, "/for-a-robot")
}

// robotsCome has a robot ask for a page of each host now and then, until the test ends.
func (c *caddy) robotsCome(t *testing.T, hosts ...string) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, host := range hosts {
				_, _ = request{host: host, path: "/for-a-robot", agent: gptbot}.try(client, "http://"+c.address())
			}
			select {
			case <-stop:
				return
			case <-time.After(pause):
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
}

// pause is how long is between the visits of a robot that comes now and then.
const pause = 100 * time.Millisecond
