package integration

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// maxReplayMemory is the most that a replay may take, however long the log is.
const maxReplayMemory = 400 << 20

// stream writes lines until there are enough bytes, and returns how many lines there were.
// It is written on the way, never kept.
func stream(w io.Writer, size int64, line func(to []byte, i int) []byte) (lines int, err error) {
	var chunk []byte
	for written := int64(0); written < size && err == nil; {
		chunk = chunk[:0]
		for ; len(chunk) < 64<<10; lines++ {
			chunk = line(chunk, lines)
		}
		var n int
		n, err = w.Write(chunk)
		written += int64(n)
	}
	return lines, err
}

// replayStream replays what is streamed into its standard input.
func replayStream(t *testing.T, size int64, line func(to []byte, i int) []byte, args ...string) (got ranCommand, lines int) {
	t.Helper()
	if testutil.Race {
		size /= 20
	}
	folder := t.TempDir()
	write(t, folder+"/robots.txt", "User-agent: *\nDisallow: /private/\nCrawl-delay: 1\n\nUser-agent: GPTBot\nDisallow: /\n")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	written := make(chan int)
	go func() {
		lines, err := stream(out, size, line)
		if err != nil {
			t.Error(err)
		}
		out.Close()
		written <- lines
	}()
	got = runCommand(t, folder, in, append([]string{"replay"}, append(args, "-")...)...)
	lines = <-written
	if got.status != 0 || got.err != "" {
		t.Fatalf("got status %d, %q", got.status, got.err)
	}
	t.Logf("%d MiB in %d lines took %s and %d MiB of memory", size>>20, lines, got.took.Round(time.Millisecond), got.peak>>20)
	if got.peak == 0 {
		t.Error("how much memory it took is not known")
	}
	if got.peak > maxReplayMemory && !testutil.Race { // which takes much more itself
		t.Errorf("memory: got %d MiB, want at most %d MiB", got.peak>>20, maxReplayMemory>>20)
	}
	return got, lines
}

// A stream of ROBOTS_STREAM_MIB, 192 unless it says otherwise, of Caddy's own lines.
func TestReplayOfALongStreamTakesLittleMemory(t *testing.T) {
	mebibytes := int64(192)
	if text := os.Getenv("ROBOTS_STREAM_MIB"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		mebibytes = n
	}
	agents := []string{chrome, gptbot, chrome, curl, chrome, bingbot}
	got, lines := replayStream(t, mebibytes<<20, func(to []byte, i int) []byte {
		return fmt.Appendf(to, `{"level":"info","ts":%d.%06d,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.%d","remote_port":"4711",`+
			`"client_ip":"203.0.113.%d","proto":"HTTP/2.0","method":"GET","host":"www.example.com","uri":"/shop/item-%d.html?page=%d","headers":{"Accept":["*/*"],`+
			`"Accept-Encoding":["gzip, deflate, br, zstd"],"Accept-Language":["de-DE,de;q=0.9,en;q=0.8"],"Sec-Fetch-Mode":["navigate"],"Cookie":["REDACTED"],"User-Agent":["%s"]},`+
			`"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"www.example.com"}},"bytes_read":0,"user_id":"","duration":0.%09d,"size":%d,`+
			`"status":200,"resp_headers":{"Server":["Caddy"],"Alt-Svc":["h3=\":443\"; ma=2592000"],"Content-Type":["text/html; charset=utf-8"]}}`+"\n",
			1767323045+i/4, i%1e6, i%250, i%250, i, i%7, agents[i%len(agents)], 100000+i%900000, 512+i%9000)
	})
	if want := withCommas(lines) + " requests, "; !strings.HasPrefix(got.out, want) {
		t.Errorf("got %.200q, want it to begin with %q", got.out, want)
	}
}

// A million robots that come once, and two that come all the time: the two have their rows,
// and the table ends.
func TestReplayOfAMillionRobotsTakesLittleMemory(t *testing.T) {
	full(t, "this reads 200 MiB")
	const size = 175 // of a line
	got, lines := replayStream(t, 1_200_000*size, func(to []byte, i int) []byte {
		agent := []byte(fmt.Sprintf("Mozilla/5.0 (compatible; Example%08dBot/1.0; +https://bots.example/%d)", i*7919, i))
		switch i % 12 {
		case 0:
			agent = []byte(gptbot)
		case 6:
			agent = []byte(bingbot)
		}
		at := time.Unix(1767323045+int64(i/4), 0).UTC()
		return fmt.Appendf(to, "203.0.113.%d - - [%s] \"GET /private/%d HTTP/1.1\" 200 512 \"-\" \"%s\"\n", i%250, at.Format("02/Jan/2006:15:04:05 -0700"), i, agent)
	}, "--csv")
	rows := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(rows) > 5002 {
		t.Errorf("got %d rows, want a head, 5000 robots and all others", len(rows))
	}
	counts := make(map[string]int) // by class and robot
	total := 0
	for _, row := range rows[1:] {
		cells := strings.Split(row, ",")
		n, err := strconv.Atoi(cells[5])
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		counts[cells[2]+" "+cells[1]] += n
		total += n
	}
	if total != lines {
		t.Errorf("requests in all rows: got %d, want %d", total, lines)
	}
	for _, robot := range []string{"robot GPTBot", "robot bingbot"} {
		if got, least := counts[robot], lines/12; got < least {
			t.Errorf("%s: got %d requests, want at least %d", robot, got, least)
		}
	}
	if got, least := counts["other "], lines/2; got < least {
		t.Errorf("all others: got %d requests, want at least %d", got, least)
	}
}

// withCommas writes a number as the tables do.
func withCommas(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
