package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// needAxe returns the source of axe-core, which checks pages for accessibility. It skips the
// test where that is missing, and fails it where everything is to run.
func needAxe(t *testing.T) string {
	t.Helper()
	full(t, "this drives chromium")
	source, err := os.ReadFile(os.Getenv("ROBOTS_AXE"))
	if err == nil {
		return string(source)
	}
	const advice = "set ROBOTS_AXE to the axe.min.js of axe-core (npm pack axe-core; tar xf axe-core-*.tgz)"
	skip(t, advice)
	return ""
}

// runAxe opens all that is folded and asks axe for all that WCAG 2.2 A and AA and good practice
// want.
const runAxe = `
for (const d of document.querySelectorAll("details")) d.open = true;
axe.run(document, {
	preload: false,
	resultTypes: ["violations", "passes"],
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}).then((r) => ({
	passes: r.passes.map((p) => p.id),
	violations: r.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.slice(0, 5).map((n) => n.target + " " + n.html.slice(0, 300) + "\n" + n.failureSummary).join("\n")),
}))`

// isAccessible fails the test if axe finds anything wrong with the page.
func (b *tab) isAccessible(t *testing.T, axe string) {
	t.Helper()
	value[bool](t, b, axe+"; true")
	found := value[struct{ Passes, Violations []string }](t, b, runAxe)
	for _, violation := range found.Violations {
		t.Errorf("axe: %s", violation)
	}
	// What that is worth: it looked at colours, and at tables.
	for _, rule := range []string{"color-contrast", "td-headers-attr", "landmark-one-main", "region"} {
		if !slices.Contains(found.Passes, rule) {
			t.Errorf("axe: rule %s did not run or did not pass; those that did: %s", rule, strings.Join(found.Passes, " "))
		}
	}
}

func TestAxeFindsWhatIsWrongWithAPage(t *testing.T) {
	t.Parallel()
	axe := needAxe(t)
	file := filepath.Join(t.TempDir(), "page.html")
	write(t, file, `<!doctype html><title>A page</title><p style="color:#999;background:#aaa">pale`)
	b := open(t, "file://"+file, look{})
	value[bool](t, b, axe+"; true")
	found := strings.Join(value[struct{ Violations []string }](t, b, runAxe).Violations, "\n")
	for _, want := range []string{"color-contrast: ", "html-has-lang: ", "landmark-one-main: "} {
		if !strings.Contains(found, want) {
			t.Errorf("violations: got %s, want %s among them", found, want)
		}
	}
}
