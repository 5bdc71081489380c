package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPicturesOfTheReport takes the pictures that are in docs:
//
//	ROBOTS_REQUIRE_ALL=1 ROBOTS_SCREENSHOTS=../docs go test ./integration_test -run Pictures
func TestPicturesOfTheReport(t *testing.T) {
	folder := os.Getenv("ROBOTS_SCREENSHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	need(t, "chromium")
	c := startBusy(t)
	for name, p := range map[string]struct {
		look
		height int64
	}{
		"report-light": {look{width: 1280}, 1640}, "report-dark": {look{width: 1280, dark: true}, 1640}, "report-phone": {look{width: 390}, 1900},
	} {
		b := open(t, "http://"+c.address()+"/", p.look)
		b.do(t, window(p.width, p.height))
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
		if size := len(picture); size > 280_000 {
			t.Errorf("%s.png: got %d bytes, want at most 280,000", name, size)
		}
		b.isClean(t)
	}
}
