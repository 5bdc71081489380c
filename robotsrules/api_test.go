package robotsrules_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func compile(text string) *robotsrules.Policy {
	return robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), robotsrules.MatchSubstring)
}

func TestDialectsAreParsedByTheirNames(t *testing.T) {
	for want, name := range []string{"rfc9309", "draft1996", "norobots1994"} {
		got, err := robotsrules.ParseDialect(name)
		if err != nil || got != robotsrules.Dialect(want) || got.String() != name {
			t.Errorf("ParseDialect(%q) = %s, %v, want the dialect %d", name, got, err, want)
		}
	}
	for _, name := range []string{"", "RFC9309", "rfc"} {
		if _, err := robotsrules.ParseDialect(name); err == nil {
			t.Errorf("ParseDialect(%q) = nil error, want one", name)
		}
	}
}

func TestMatchesAreParsedByTheirNames(t *testing.T) {
	for want, name := range []string{"substring", "token"} {
		got, err := robotsrules.ParseMatch(name)
		if err != nil || got != robotsrules.Match(want) || got.String() != name {
			t.Errorf("ParseMatch(%q) = %s, %v, want the match %d", name, got, err, want)
		}
	}
	if _, err := robotsrules.ParseMatch("exact"); err == nil {
		t.Error(`ParseMatch("exact") = nil error, want one`)
	}
}

// A value nobody set must never refuse a visitor.
func TestZeroValuesNeverBlock(t *testing.T) {
	var binding *robotsrules.Binding
	if d := binding.Decide("/a"); !d.Allowed() || d.Binding != nil || d.Rule != nil {
		t.Errorf("nil Binding: Decide = %+v, want allowed by nothing", d)
	}
	if got := binding.Token(); got != "" {
		t.Errorf("nil Binding: Token = %q, want none", got)
	}
	if binding.Line() != 0 || binding.Pace() != nil || len(binding.Comments()) != 0 || len(binding.Groups()) != 0 {
		t.Errorf("nil Binding: line %d, pace %v, comments %q, groups %v, want nothing", binding.Line(), binding.Pace(), binding.Comments(), binding.Groups())
	}
	if d := (robotsrules.Decision{}); !d.Allowed() || d.Verdict.String() != "allowed" {
		t.Errorf("zero Decision = %s, want allowed", d.Verdict)
	}
	for name, p := range map[string]*robotsrules.Policy{
		"zero Policy":         {},
		"policy of zero File": robotsrules.Compile(&robotsrules.File{}, robotsrules.MatchSubstring),
		"policy of nil text":  robotsrules.Compile(robotsrules.Parse(nil, robotsrules.Options{}), robotsrules.MatchSubstring),
	} {
		if b := p.Bind(robot("AnyBot/1")); b != nil {
			t.Errorf("%s: Bind = record of line %d, want nil", name, b.Line())
		}
		if p.Named("AnyBot") != nil || p.Default() != nil {
			t.Errorf("%s: has a record, want none", name)
		}
	}
}

func TestNilPaceIsAlwaysOpen(t *testing.T) {
	var p *robotsrules.Pace
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	if rate, ok := p.At(at); ok {
		t.Errorf("nil Pace: At = %+v, want none", rate)
	}
	if open, _, _ := p.Visit(at); !open {
		t.Error("nil Pace: Visit = closed, want open")
	}
}

func TestFindNeverReturnsTheDefaultRecord(t *testing.T) {
	p := compile("User-agent: *\nDisallow: /\nUser-agent: one\nDisallow: /a\n")
	if b := p.Find(robot("two/1")); b != nil {
		t.Errorf("Find(two) = record of line %d, want nil", b.Line())
	}
	if got := p.Find(robot("one/1")).Line(); got != 3 {
		t.Errorf("Find(one) = record of line %d, want 3", got)
	}
	if got := p.Bind(robot("two/1")); got != p.Default() || got.Token() != "*" {
		t.Errorf("Bind(two) = record for %q, want the default record", got.Token())
	}
}

func TestTokenIsNamedAsWritten(t *testing.T) {
	p := compile("User-agent: gptBOT/1.0\nDisallow: /\n")
	if got := p.Find(robot("GPTBot/1.1")).Token(); got != "gptBOT" {
		t.Errorf("Token = %q, want gptBOT", got)
	}
}

func TestCommentsAndGroupsOfMergedRecordsKeepFileOrder(t *testing.T) {
	p := compile("User-agent: one\nComment: first\nComment: second\nUser-agent: two\nComment: not this\nUser-agent: ONE\nComment: third\n")
	b := p.Named("one")
	if got, want := b.Comments(), []string{"first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("Comments = %q, want %q", got, want)
	}
	var lines []int
	for _, g := range b.Groups() {
		lines = append(lines, g.Line)
	}
	if want := []int{1, 6}; !slices.Equal(lines, want) {
		t.Errorf("Groups stand at lines %v, want %v", lines, want)
	}
}

func TestARecordThatNamesARobotTwiceIsOne(t *testing.T) {
	b := compile("User-agent: one\nUser-agent: One\nComment: once\n").Named("one")
	if len(b.Groups()) != 1 || len(b.Comments()) != 1 {
		t.Errorf("%d groups and %d comments, want one of each", len(b.Groups()), len(b.Comments()))
	}
}

func TestAFileDoesNotShareTheCallersText(t *testing.T) {
	text := []byte("User-agent: one\nDisallow: /a\n")
	file := robotsrules.Parse(text, robotsrules.Options{})
	before := outline(file, true)
	for i := range text {
		text[i] = 'x'
	}
	if got := outline(file, true); !slices.Equal(got, before) {
		t.Errorf("after the text was overwritten the file reads %q, want %q", got, before)
	}
}

func TestAPolicyAnswersManyAtOnce(t *testing.T) {
	p := compile("User-agent: one\nCrawl-delay: 1\nDisallow: /*a*b$\nUser-agent: *\nDisallow: /%C3%A9\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if p.Bind(robot("one/1")).Decide("/xaxb").Allowed() || p.Bind(robot("two/1")).Decide("/é").Allowed() {
					t.Error("a concurrent decision was allowed, want disallowed")
					return
				}
				p.Named("ONE").Pace().At(time.Time{})
			}
		})
	}
	wg.Wait()
}

func TestWindowIsReadInGMT(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for _, test := range []struct {
		window robotsrules.Window
		at     time.Time
		want   bool
	}{
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 5, 59, 59, 999, time.UTC), false},
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC), true},
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 8, 44, 59, 0, time.UTC), true},
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 8, 45, 0, 0, time.UTC), false},
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 7, 0, 0, 0, east), false},
		{robotsrules.Window{From: 360, To: 525}, time.Date(2026, 1, 2, 9, 0, 0, 0, east), true},
		{robotsrules.Window{From: 1320, To: 240}, time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC), true},
		{robotsrules.Window{From: 1320, To: 240}, time.Date(2026, 1, 2, 3, 59, 0, 0, time.UTC), true},
		{robotsrules.Window{From: 1320, To: 240}, time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC), false},
	} {
		if got := test.window.Contains(test.at); got != test.want {
			t.Errorf("%+v contains %s = %t, want %t", test.window, test.at, got, test.want)
		}
	}
}

func TestWindowOpensAtTheNextInstantInside(t *testing.T) {
	w := robotsrules.Window{From: 360, To: 525}
	for _, test := range []struct{ at, want time.Time }{
		{time.Date(2026, 1, 2, 5, 0, 1, 0, time.UTC), time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)},
		{time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)},
		{time.Date(2026, 1, 2, 7, 1, 2, 3, time.UTC), time.Date(2026, 1, 2, 7, 1, 2, 3, time.UTC)},
		{time.Date(2026, 1, 2, 8, 45, 0, 0, time.UTC), time.Date(2026, 1, 3, 6, 0, 0, 0, time.UTC)},
		{time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 6, 0, 0, 0, time.UTC)},
	} {
		if got := w.Opens(test.at); !got.Equal(test.want) {
			t.Errorf("%+v opens after %s at %s, want %s", w, test.at, got, test.want)
		}
	}
}

func TestIntervalIsPeriodPerDocument(t *testing.T) {
	if got := (robotsrules.Rate{Documents: 10, Period: time.Minute}).Interval(); got != 6*time.Second {
		t.Errorf("interval of 10/1m = %s, want 6s", got)
	}
	if got := (robotsrules.Rate{}).Interval(); got != 0 {
		t.Errorf("interval of the zero Rate = %s, want 0", got)
	}
}
