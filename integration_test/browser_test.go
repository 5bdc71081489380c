package integration

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserTime bounds all that one tab is used for.
const browserTime = 2 * time.Minute

// look is how a page is looked at. The zero value is light, 1280 pixels wide, and runs scripts.
type look struct {
	dark      bool
	width     int64
	noScripts bool
	user      *url.Userinfo // whom HTTP asks for
}

// The looks that every page is to be good in.
var looks = map[string]look{"light": {}, "dark": {dark: true}, "phone": {width: 390}}

// tab is a page in a headless Chromium, which is ended with the test. Whatever the page does
// that it should not is collected: a request for anything but itself, anything said on the
// console, an error, a dialog.
type tab struct {
	ctx  context.Context
	self string // where the page is, without query and fragment

	mu     sync.Mutex
	wrongs []string
}

// open opens a page in a browser of its own, with an empty profile, and returns when it is
// loaded.
func open(t *testing.T, address string, how look) *tab {
	t.Helper()
	need(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"),
		chromedp.UserDataDir(filepath.Join(t.TempDir(), "profile")),
		// Nothing but this machine can be reached, even by a page that tries.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	bounded, end := context.WithTimeout(context.Background(), browserTime)
	allocator, endBrowser := chromedp.NewExecAllocator(bounded, options...)
	b := &tab{self: withoutQuery(address)}
	ctx, endTab := chromedp.NewContext(allocator, chromedp.WithListener(b.notice))
	b.ctx = ctx
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // gracefully; what is left of it is killed
		endTab()
		endBrowser()
		end()
	})

	scheme, width := "light", int64(1280)
	if how.dark {
		scheme = "dark"
	}
	if how.width > 0 {
		width = how.width
	}
	headers := network.Headers{}
	if how.user != nil {
		password, _ := how.user.Password()
		headers["Authorization"] = basicAuth(how.user.Username(), password)
	}
	b.do(t,
		send(network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers}),
		window(width, 900),
		send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
		send(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: how.noScripts}),
		chromedp.Navigate(address),
	)
	return b
}

// window is an action that makes the page's window so large; a narrow one is a phone's.
func window(width, height int64) chromedp.Action[chromedp.Void] {
	return send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600,
	})
}

// send is an action that gives the browser a command.
func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, page *chromedp.Target) error {
		_, err := cdp.Call(ctx, page, command, params)
		return err
	})
}

// notice takes in what the browser tells of the page. It must not wait for the browser.
func (b *tab) notice(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") && withoutQuery(e.Request.URL) != b.self {
			b.wrongs = append(b.wrongs, "request: "+e.Request.URL)
		}
	case *log.EventEntryAdded: // network errors and what a Content-Security-Policy forbade, among others
		b.wrongs = append(b.wrongs, "log: "+e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.wrongs = append(b.wrongs, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.wrongs = append(b.wrongs, "console: "+string(e.Type))
	case *page.EventJavascriptDialogOpening:
		b.wrongs = append(b.wrongs, "dialog: "+e.Message)
		dismiss := send(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		go func() { _ = chromedp.Do(b.ctx, dismiss) }()
	}
}

// faults returns what the page did that it should not have.
func (b *tab) faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.wrongs)
}

// isClean fails the test if the page did anything that it should not have.
func (b *tab) isClean(t *testing.T) {
	t.Helper()
	if faults := b.faults(); len(faults) > 0 {
		t.Errorf("the page did what it should not:\n%s", strings.Join(faults, "\n"))
	}
}

// do carries out actions in the page.
func (b *tab) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatalf("in the browser: %v; %q", err, b.faults())
	}
}

// value evaluates an expression in the page, waiting for a promise, and returns what it is.
func value[V any](t *testing.T, b *tab, expression string) V {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("in the browser: %.200s: %v; %q", expression, err, b.faults())
	}
	return v
}

// press presses a key so many times.
func (b *tab) press(t *testing.T, key string, times int) {
	t.Helper()
	for range times {
		b.do(t, chromedp.KeyEvent(key))
	}
}

func withoutQuery(address string) string {
	end := strings.IndexAny(address, "?#")
	if end < 0 {
		return address
	}
	return address[:end]
}

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
