package accesslog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

func TestARecordCostsAFractionOfAnAllocation(t *testing.T) {
	const size, most = 1 << 20, 0.1
	for name, line := range map[string]func(int) string{"caddy": caddyLine, "common": commonLine, "combined": combinedLine} {
		text, n := logOf(line, size)
		r := open(t, accesslog.Options{}, writeFile(t, name, text))
		got := testing.AllocsPerRun(1, func() {
			for range n / 2 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
		})
		if perRecord := got / float64(n/2); perRecord > most {
			t.Errorf("%s: %.2f allocations for each record, want at most %v", name, perRecord, most)
		}
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
			t.Errorf("%d bytes: got problems %v, want one that ends with %s", length, first, end)
		}
	}
}
