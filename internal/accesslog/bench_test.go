package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

var benchmarkAgents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"curl/8.5.0",
}

// caddyLine is a line as Caddy 2.11 writes it with `log { output file ... }` and nothing
// else, about 1 KiB long.
func caddyLine(i int) string {
	at := float64(1767323045) + float64(i)*0.0137429
	return fmt.Sprintf(`{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.%d","remote_port":"%d",`+
		`"client_ip":"203.0.113.%d","proto":"HTTP/2.0","method":"GET","host":"www.example.com","uri":"/shop/category-%d/item-%d.html?page=%d","headers":{`+
		`"Accept":["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"],"Accept-Encoding":["gzip, deflate, br, zstd"],`+
		`"Accept-Language":["de-DE,de;q=0.9,en;q=0.8"],"Sec-Fetch-Mode":["navigate"],"Cookie":["REDACTED"],"User-Agent":["%s"]},`+
		`"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"www.example.com","ech":false}},`+
		`"bytes_read":0,"user_id":"","duration":0.%09d,"size":%d,"status":200,"resp_headers":{"Server":["Caddy"],"Alt-Svc":["h3=\":443\"; ma=2592000"],`+
		`"Etag":["\"d5x1k2o9q7%d\""],"Content-Type":["text/html; charset=utf-8"],"Last-Modified":["Thu, 01 Jan 2026 09:00:00 GMT"],`+
		`"Accept-Ranges":["bytes"],"Content-Length":["%d"],"Vary":["Accept-Encoding"]}}`+"\n",
		at, i%250, 1024+i%60000, i%250, i%97, i%9973, i%7, benchmarkAgents[i%len(benchmarkAgents)], 100000+i%900000, 512+i%9000, i, 512+i%9000)
}

func commonLine(i int) string {
	at := time.Unix(1767323045+int64(i/70), 0).UTC()
	return fmt.Sprintf(`203.0.113.%d - - [%s] "GET /shop/category-%d/item-%d.html?page=%d HTTP/1.1" 200 %d`+"\n",
		i%250, at.Format("02/Jan/2006:15:04:05 -0700"), i%97, i%9973, i%7, 512+i%9000)
}

func combinedLine(i int) string {
	common := commonLine(i)
	return fmt.Sprintf(`%s "https://www.example.com/shop/category-%d/" "%s"`+"\n", common[:len(common)-1], i%97, benchmarkAgents[i%len(benchmarkAgents)])
}

// logOf writes a log of about size bytes.
func logOf(line func(int) string, size int) (text []byte, n int) {
	for ; len(text) < size; n++ {
		text = append(text, line(n)...)
	}
	return text, n
}

func gzipped(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstdCompressed(tb testing.TB, text []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return z.EncodeAll(text, nil)
}

func writeFile(tb testing.TB, name string, content []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	const size = 16 << 20
	caddy, caddyLines := logOf(caddyLine, size)
	common, commonLines := logOf(commonLine, size)
	combined, combinedLines := logOf(combinedLine, size)
	for _, c := range []struct {
		name    string
		content []byte
		size    int
		lines   int
	}{
		{"caddy", caddy, len(caddy), caddyLines},
		{"caddy.gz", gzipped(b, caddy), len(caddy), caddyLines},
		{"caddy.zst", zstdCompressed(b, caddy), len(caddy), caddyLines},
		{"common", common, len(common), commonLines},
		{"combined", combined, len(combined), combinedLines},
	} {
		path := writeFile(b, c.name, c.content)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := accesslog.Open([]string{path}, accesslog.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					if _, err = r.Next(); err != nil {
						break
					}
					n++
				}
				if err != io.EOF || n != c.lines {
					b.Fatalf("%d records, then %v, want %d, then EOF", n, err, c.lines)
				}
			}
			b.ReportMetric(float64(c.lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
