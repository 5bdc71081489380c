package compliance

import (
	"strings"
	"testing"
	"time"
)

// someKnown is a small catalogue.
func someKnown(name string) Known {
	return map[string]Known{
		"GPTBot": {Operator: "OpenAI", Purpose: "ai-training"}, "ChatGPT-User": {Operator: "OpenAI", Purpose: "ai-user"},
		"Googlebot": {Operator: "Google", Purpose: "search", ReadsNoDelay: true}, "<b>Bot": {Operator: "<script>", Purpose: "\u202ex"},
	}[name]
}

// knownLedger returns a ledger of robots that the catalogue knows, and of others, on two sites.
func knownLedger() *Ledger {
	l := NewLedger(Options{})
	for _, c := range []struct {
		site, robot, standing, class string
		times                        int
		took                         time.Duration
	}{
		{"a.example", "GPTBot", "", "robot", 10, time.Second}, {"b.example", "GPTBot", "", "robot", 5, time.Second},
		{"a.example", "ChatGPT-User", "", "robot", 3, time.Second}, {"a.example", "Googlebot", "verified", "robot", 4, 0},
		{"a.example", "Googlebot", "impostor", "robot", 7, 0}, {"a.example", "Googlebot", "", "trapped", 2, 0},
		{"b.example", "FigBot", "", "robot", 6, 0}, {"b.example", "", "", "unstated", 1, 0},
	} {
		e := allowed(c.robot)
		e.Site, e.Standing, e.Class, e.Measured, e.Took, e.Bytes = c.site, c.standing, c.class, true, c.took, 1000
		note(l, e, c.times)
	}
	return l
}

func TestRobotsAreSummedByOperatorAndPurpose(t *testing.T) {
	r := knownLedger().Snapshot(start)
	r.MarkKnown(someKnown)
	type sum struct {
		name             string
		robots, requests uint64
	}
	check := func(what string, got []Group, want ...sum) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: got %s, want %v", what, asJSON(t, got), want)
		}
		for i, g := range got {
			if (sum{g.Name, g.Robots, g.Requests}) != want[i] || g.Bytes != 1000*g.Requests {
				t.Errorf("%s: got %+v, want %+v", what, g, want[i])
			}
		}
	}
	// Of an impostor, and of who was caught in a trap, it is not known whose they are.
	check("operators", r.Operators, sum{"OpenAI", 2, 18}, sum{"", 4, 16}, sum{"Google", 1, 4})
	check("purposes", r.Purposes, sum{"ai-training", 1, 15}, sum{"ai-user", 1, 3}, sum{"", 4, 16}, sum{"search", 1, 4})
	part := r.Select(Selection{Operator: "openai", Site: "a.example"})
	check("operators of a part", part.Operators, sum{"OpenAI", 2, 13})
	if got := r.Select(Selection{Purpose: None}).Total.Requests; got != 16 {
		t.Errorf("those without a purpose: got %d requests, want 16", got)
	}
	if got := r.Select(Selection{Period: "today"}).Operators; len(got) != 3 || got[0].Requests != 18 {
		t.Errorf("operators of a period: got %+v", got)
	}
}

func TestRobotsAreSummedAcrossSites(t *testing.T) {
	r := knownLedger().Snapshot(start)
	if len(r.Across) != 7 {
		t.Fatalf("got %s, want the seven", asJSON(t, r.Across))
	}
	if g := r.Across[0]; g.Name != "GPTBot" || g.Class != "robot" || g.Sites != 2 || g.Robots != 1 || g.Requests != 15 || g.Seconds != 15 {
		t.Errorf("the first: got %+v, want GPTBot on two sites with 15 requests", g)
	}
	requests := uint64(0)
	for _, g := range r.Across {
		requests += g.Requests
	}
	if requests != r.Total.Requests {
		t.Errorf("got %d requests of all robots, want %d", requests, r.Total.Requests)
	}
	if part := r.Select(Selection{Site: "a.example"}); part.Across != nil {
		t.Errorf("one site: got %s, want none", asJSON(t, part.Across))
	}
	text := page(t, r, PageOptions{Self: "/robots", Selection: Selection{Period: "30d"}})
	for _, want := range []string{
		`<a href="/robots?class=robot&amp;period=30d&amp;robot=GPTBot&amp;standing=-">GPTBot</a>`,
		`<caption id="robots">By robot, on all sites</caption>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := words(text); !strings.Contains(got, "\nGPTBot | 2 | 15 | 0 |") {
		t.Errorf("got %q", got)
	}
}

func TestThePageSaysWhoRunsARobot(t *testing.T) {
	l := knownLedger()
	note(l, disallowed("<b>Bot"), 1)
	r := l.Snapshot(start)
	r.MarkKnown(someKnown)
	text := page(t, r, PageOptions{Self: "/robots"})
	checkMarkup(t, text)
	for _, want := range []string{
		`<a href="/robots?operator=OpenAI">OpenAI</a>`, `<a href="/robots?purpose=ai-training">ai-training</a>`, `<a href="/robots?operator=-">not known</a>`,
		`OpenAI <span class="soft">ai-user</span>`, `owner none">not known`, `&lt;script&gt;`, `\u202ex`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	q := Selection{Robot: "FigBot"}
	if got := words(page(t, r.Select(q), PageOptions{Self: "/robots", Selection: q})); !strings.Contains(got, "Run by\nnot known") {
		t.Errorf("the page of a robot that is not in the catalogue: got %q", got)
	}
	// A page of an operator keeps it in the links to periods, and its site in the links to others.
	q = Selection{Site: "a.example", Operator: "OpenAI", Period: "7d"}
	text = page(t, r.Select(q), PageOptions{Self: "/robots", Selection: q})
	if want := `<a href="/robots?operator=OpenAI&amp;period=30d&amp;site=a.example">`; !strings.Contains(text, want) {
		t.Errorf("the page of an operator lacks %q", want)
	}
}

func TestManyOperatorsAreSummedUpOnThePage(t *testing.T) {
	l := NewLedger(Options{})
	for i := range 30 {
		note(l, allowed("Bot"+string(rune('A'+i))), 1+i)
	}
	r := l.Snapshot(start)
	r.MarkKnown(func(name string) Known { return Known{Operator: "Operator of " + name, Purpose: "search"} })
	if got := words(page(t, r, PageOptions{})); !strings.Contains(got, "\n18 others | 18 | 171 | 0 | – |\n") {
		t.Errorf("got %q", got)
	}
}
