package cli

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// loggedAgents are who comes in the logs of the benchmarks and of long tests: half people,
// the others in turn.
var loggedAgents = []string{chrome, gptBot, chrome, curl, chrome, ccBot}

// caddyLine is a line as Caddy writes it to a log with `log { output file ... }` and nothing
// else, about 900 bytes long.
func caddyLine(agent string, i int) string {
	return fmt.Sprintf(`{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.%d","remote_port":"%d",`+
		`"client_ip":"203.0.113.%d","proto":"HTTP/2.0","method":"GET","host":"www.example.com","uri":"/shop/category-%d/item-%d.html?page=%d","headers":{`+
		`"Accept":["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],"Accept-Encoding":["gzip, deflate, br, zstd"],`+
		`"Accept-Language":["de-DE,de;q=0.9,en;q=0.8"],"Sec-Fetch-Mode":["navigate"],"Cookie":["REDACTED"],"User-Agent":[%q]},`+
		`"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"www.example.com"}},`+
		`"bytes_read":0,"user_id":"","duration":0.%09d,"size":%d,"status":200,"resp_headers":{"Server":["Caddy"],"Alt-Svc":["h3=\":443\"; ma=2592000"],`+
		`"Etag":["\"d5x1k2o9q7\""],"Content-Type":["text/html; charset=utf-8"],"Last-Modified":["Thu, 01 Jan 2026 09:00:00 GMT"]}}`+"\n",
		1767323045+float64(i)*0.25, i%250, 1024+i%60000, i%250, i%97, i%9973, i%7, agent, 100000+i%900000, 512+i%9000)
}

// commonLine is a line in the Common Log Format.
func commonLine(_ string, i int) string {
	at := time.Unix(1767323045+int64(i/4), 0).UTC()
	return fmt.Sprintf(`203.0.113.%d - - [%s] "GET /shop/category-%d/item-%d.html?page=%d HTTP/1.1" 200 %d`+"\n",
		i%250, at.Format("02/Jan/2006:15:04:05 -0700"), i%97, i%9973, i%7, 512+i%9000)
}

// combinedLine is a line in the Combined Log Format.
func combinedLine(agent string, i int) string {
	common := commonLine(agent, i)
	return fmt.Sprintf("%s \"https://www.example.com/\" %q\n", common[:len(common)-1], agent)
}

// BenchmarkReplay is the whole command over 16 MiB of log: MB/s is of the log, and lines/s is
// what it says.
func BenchmarkReplay(b *testing.B) {
	rules := write(b, b.TempDir(), "robots.txt", manyRecords())
	for _, format := range []struct {
		name string
		line func(agent string, i int) string
	}{{"caddy", caddyLine}, {"combined", combinedLine}, {"common", commonLine}} {
		b.Run(format.name, func(b *testing.B) {
			var log []byte
			lines := 0
			for ; len(log) < 16<<20; lines++ {
				log = append(log, format.line(loggedAgents[lines%len(loggedAgents)], lines)...)
			}
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if c := runCommand(bytes.NewReader(log), "replay", "--robots-txt", rules, "-"); c.status != 0 {
					b.Fatal(c)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
