package policies

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTitlesTellNoSecrets(t *testing.T) {
	for _, test := range []struct {
		src  Source
		want string
	}{
		{Source{Text: closedSite}, "this site"},
		{Source{File: "/srv/secret/robots.txt"}, "robots.txt of this site"},
		{Source{File: "/srv/" + hostPlaceholder + ".txt"}, "site.example.txt of this site"},
		{Source{File: "{env.SECRET}"}, "{env.SECRET} of this site"},
		{Source{URL: "https://lists.example/ai/robots.txt"}, "https://lists.example/ai/robots.txt"},
		{Source{URL: "https://user:hush@lists.example:8443/a%20b.txt?token=hush#hush"}, "https://lists.example:8443/a%20b.txt"},
		{Source{URL: "https://lists.example/{env.SECRET}/ai.txt"}, "https://lists.example/..."},
		{Source{URL: "https://{env.SECRET}/ai.txt"}, "elsewhere"},
		{Source{URL: "https://lists.example/" + hostPlaceholder + ".txt"}, "https://lists.example/site.example.txt"},
	} {
		if got := test.src.title("site.example"); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.src, got, test.want)
		}
	}
}

func TestFileSourcePerHost(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "site.example.txt"), []byte(closedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	src := Source{File: filepath.Join(folder, hostPlaceholder+".txt")}
	ts := newTestSite(t, nil, src)
	ts.expect(t, "the host's own file", true)
	for _, host := range []string{"../x", `..\x`, "a/b", ".."} {
		if place, err := src.place(host); err == nil {
			t.Errorf("host %q leads to %s", host, place)
		}
	}
}
