package integration

import (
	"path/filepath"
	"strings"
	"testing"
)

// What a clean page is worth: a tab notices each of what it looks for.
func TestATabNoticesWhatAPageShouldNotDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"nothing":              {`<p>A page.`, ""},
		"script forbidden":     {`<meta http-equiv="Content-Security-Policy" content="script-src 'none'"><script>1</script>`, "log: "},
		"style forbidden":      {`<meta http-equiv="Content-Security-Policy" content="style-src 'none'"><p style="color:red">.`, "log: "},
		"dialog":               {`<script>alert(1)</script>`, "dialog: 1"},
		"exception":            {`<script>throw new Error("no")</script>`, "exception: "},
		"console":              {`<script>console.error("no")</script>`, "console: error"},
		"image of another":     {`<img src="http://127.0.0.1:1/a.png" alt="">`, "request: http://127.0.0.1:1/a.png"},
		"style of another":     {`<link rel="stylesheet" href="http://site.test/a.css">`, "request: http://site.test/a.css"},
		"fetch of another":     {`<script>fetch("http://site.test/").catch(() => {})</script>`, "request: http://site.test/"},
		"file beside the page": {`<script src="other.js"></script>`, "request: file://"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			write(t, file, "<!doctype html><title>A page</title>"+tt.page)
			b := open(t, "file://"+file, look{})
			if tt.want == "" {
				b.isClean(t)
				return
			}
			eventually(t, "the tab notices "+tt.want, func() bool {
				return strings.Contains(strings.Join(b.faults(), "\n"), tt.want)
			})
		})
	}
}
