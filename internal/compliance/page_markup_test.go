package compliance

import (
	"regexp"
	"strings"
	"testing"
)

// element is a start tag.
type element struct {
	name string
	attr map[string]string
	in   []string // the names of what it stands in
}

var (
	tagPattern  = regexp.MustCompile(`^<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*(/?)>$`)
	attrPattern = regexp.MustCompile(`([a-zA-Z-]+)(?:="([^"<>]*)")?`)
	rawPattern  = regexp.MustCompile(`(?s)(<(style|script)[^>]*>).*?(</(?:style|script)>)`)
	voidTags    = map[string]bool{"meta": true, "link": true, "input": true}
)

// parse returns the elements of a page. It knows only the HTML that this package
// writes: quoted attributes, and every end tag there. Whatever else looks like markup is an error.
func parse(t *testing.T, page string) []element {
	t.Helper()
	page, ok := strings.CutPrefix(page, "<!doctype html>\n")
	if !ok {
		t.Fatalf("got %.40q, want a doctype first", page)
	}
	page, _ = split(page)
	var all []element
	var open []string
	for {
		text, rest, found := strings.Cut(page, "<")
		mustBeText(t, text)
		if !found {
			break
		}
		inside, rest, _ := strings.Cut(rest, ">")
		page = rest
		m := tagPattern.FindStringSubmatch("<" + inside + ">")
		if m == nil {
			t.Fatalf("markup that is not understood: <%s>", inside)
		}
		name := m[2]
		switch {
		case m[1] != "":
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> within %v", name, open)
			}
			open = open[:len(open)-1]
		default:
			e := element{name: name, attr: make(map[string]string), in: append([]string(nil), open...)}
			for _, a := range attrPattern.FindAllStringSubmatch(m[3], -1) {
				if _, twice := e.attr[a[1]]; twice {
					t.Fatalf("<%s> has %s twice", name, a[1])
				}
				e.attr[a[1]] = a[2]
			}
			all = append(all, e)
			if m[4] == "" && !voidTags[name] {
				open = append(open, name)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("never closed: %v", open)
	}
	if len(all) < 10 {
		t.Fatalf("got only %d elements", len(all))
	}
	return all
}

// split parts a page into its markup and what stands in its styles and scripts. It does without
// regular expressions, which would take most of the time of a test.
func split(page string) (markup, raw string) {
	for _, name := range []string{"style", "script"} {
		var others strings.Builder
		for {
			before, rest, found := strings.Cut(page, "<"+name)
			others.WriteString(before)
			if !found {
				break
			}
			attributes, rest, _ := strings.Cut(rest, ">")
			content, rest, _ := strings.Cut(rest, "</"+name+">")
			others.WriteString("<" + name + attributes + "></" + name + ">")
			raw += content + "\n"
			page = rest
		}
		page = others.String()
	}
	return page, raw
}

// mustBeText fails the test if what is between tags is more than text.
func mustBeText(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsAny(s, "<>") {
		t.Fatalf("markup that is not understood: %q", s)
	}
}

// checkMarkup holds a page to what every page keeps.
func checkMarkup(t *testing.T, page string) []element {
	t.Helper()
	all := parse(t, page)
	ids := make(map[string]bool)
	count := make(map[string]int)
	level := 0
	for _, e := range all {
		count[e.name]++
		if id, ok := e.attr["id"]; ok {
			if ids[id] || id == "" {
				t.Errorf("the id %q is there twice or empty", id)
			}
			ids[id] = true
		}
		if len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6' {
			if now := int(e.name[1] - '0'); now > level+1 {
				t.Errorf("<%s> follows <h%d>", e.name, level)
			}
			level = int(e.name[1] - '0')
		}
	}
	for _, e := range all {
		checkElement(t, e, ids)
	}
	for _, name := range []string{"html", "title", "h1", "main"} {
		if count[name] != 1 {
			t.Errorf("<%s>: got %d, want one", name, count[name])
		}
	}
	if count["caption"] != count["table"] {
		t.Errorf("got %d captions of %d tables", count["caption"], count["table"])
	}
	return all
}

// checkElement holds an element to what a strict Content-Security-Policy and readers who do not
// see ask for.
func checkElement(t *testing.T, e element, ids map[string]bool) {
	t.Helper()
	for name, value := range e.attr {
		switch {
		case value == "#ZgotmplZ": // what html/template makes of a link that would run a script
		case name == "style" || strings.HasPrefix(name, "on"):
			t.Errorf("<%s> has the attribute %s", e.name, name)
		case name == "src" || name == "srcset" || name == "action":
			t.Errorf("<%s> asks for %q", e.name, value)
		case name == "href" && strings.HasPrefix(value, "#"), name == "aria-labelledby":
			if !ids[strings.TrimPrefix(value, "#")] {
				t.Errorf("<%s> points at %q, which is not there", e.name, value)
			}
		case name == "href" && e.name == "link" && value != "data:,":
			t.Errorf("<link> asks for %q", value)
		case name == "tabindex" && value != "0" && value != "-1":
			t.Errorf("<%s> has the tabindex %q", e.name, value)
		}
	}
	switch e.name {
	case "th":
		if e.attr["scope"] == "" {
			t.Errorf("<th> in %v has no scope", e.in)
		}
	case "svg":
		if e.attr["aria-hidden"] != "true" && (e.attr["role"] != "img" || e.attr["aria-label"] == "") {
			t.Errorf("<svg> in %v has no text for those who do not see it", e.in)
		}
	case "input":
		if in := e.in[len(e.in)-1]; in != "label" {
			t.Errorf("<input> in <%s> has no label", in)
		}
	}
}
