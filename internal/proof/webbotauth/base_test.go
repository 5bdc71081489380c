package webbotauth

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
)

// baseOf rebuilds what a component list stands for, without the last line.
func baseOf(tb testing.TB, m Message, components string) (string, error) {
	tb.Helper()
	all, err := httpsfv.UnmarshalDictionary([]string{"sig=(" + components + ")"})
	if err != nil {
		tb.Fatalf("components %s: %v", components, err)
	}
	member, _ := all.Get("sig")
	base, err := signatureBase(m, member.(httpsfv.InnerList))
	lines, _, _ := strings.Cut(string(base), `"@signature-params": `)
	return strings.TrimSuffix(lines, "\n"), err
}

// The examples of RFC 9421, section 2.2, and the edges its text names.
func TestDerivedComponents(t *testing.T) {
	m := Message{Method: "POST", Authority: "www.example.com", Scheme: "https", Path: "/path", RawQuery: "param=value"}
	for _, test := range []struct {
		component string
		change    func(*Message)
		want      string
	}{
		{"@method", nil, "POST"},
		{"@authority", nil, "www.example.com"},
		{"@authority", func(m *Message) { m.Authority = "WWW.Example.com:443" }, "www.example.com"},
		{"@authority", func(m *Message) { m.Authority = "www.example.com:80" }, "www.example.com:80"},
		{"@authority", func(m *Message) { m.Scheme, m.Authority = "http", "www.example.com:80" }, "www.example.com"},
		{"@authority", func(m *Message) { m.Authority = "[2001:DB8::1]:443" }, "[2001:db8::1]"},
		{"@scheme", func(m *Message) { m.Scheme = "HTTPS" }, "https"},
		{"@target-uri", nil, "https://www.example.com/path?param=value"},
		{"@target-uri", func(m *Message) { m.Path, m.RawQuery = "", "" }, "https://www.example.com/"},
		{"@request-target", nil, "/path?param=value"},
		{"@request-target", func(m *Message) { m.RawQuery = "" }, "/path"},
		{"@path", nil, "/path"},
		{"@path", func(m *Message) { m.Path = "" }, "/"},
		{"@path", func(m *Message) { m.Path = "/%7Ea//B" }, "/%7Ea//B"},
		{"@query", nil, "?param=value"},
		{"@query", func(m *Message) { m.RawQuery = "" }, "?"},
	} {
		x := m
		if test.change != nil {
			test.change(&x)
		}
		got, err := baseOf(t, x, `"`+test.component+`"`)
		if want := `"` + test.component + `": ` + test.want; got != want || err != nil {
			t.Errorf("%s of %+v = %q, %v, want %q", test.component, x, got, err, want)
		}
	}
}

// The examples of RFC 9421, sections 2.1 and 2.1.2, and what becomes of the Host field.
func TestFieldComponents(t *testing.T) {
	m := Message{Authority: "WWW.example.com", Header: http.Header{
		"Date":           {"Tue, 20 Apr 2021 02:07:56 GMT"},
		"X-Ows-Header":   {"   Leading and trailing whitespace.   "},
		"X-Obs-Fold":     {"Obsolete\r\n    line folding.", "a \n\tb\r\n c"},
		"Cache-Control":  {"max-age=60", "   must-revalidate"},
		"X-Empty-Header": {""},
		"Example-Dict":   {"a=1,    b=2;x=1;y=2,   c=(a   b   c), d"},
	}}
	for component, want := range map[string]string{
		`"date"`:                  `"date": Tue, 20 Apr 2021 02:07:56 GMT`,
		`"x-ows-header"`:          `"x-ows-header": Leading and trailing whitespace.`,
		`"x-obs-fold"`:            `"x-obs-fold": Obsolete line folding., a b c`,
		`"cache-control"`:         `"cache-control": max-age=60, must-revalidate`,
		`"x-empty-header"`:        `"x-empty-header": `,
		`"example-dict"`:          `"example-dict": a=1,    b=2;x=1;y=2,   c=(a   b   c), d`,
		`"example-dict";key="a"`:  `"example-dict";key="a": 1`,
		`"example-dict";key="d"`:  `"example-dict";key="d": ?1`,
		`"example-dict";key="b"`:  `"example-dict";key="b": 2;x=1;y=2`,
		`"example-dict";key="c"`:  `"example-dict";key="c": (a b c)`,
		`"host"`:                  `"host": WWW.example.com`,
		`"date" "x-empty-header"`: "\"date\": Tue, 20 Apr 2021 02:07:56 GMT\n\"x-empty-header\": ",
	} {
		if got, err := baseOf(t, m, component); got != want || err != nil {
			t.Errorf("%s = %q, %v, want %q", component, got, err, want)
		}
	}
}

func TestComponentsThatCannotBeRebuilt(t *testing.T) {
	m := Message{Method: "GET", Authority: "example.com", Scheme: "https", Header: http.Header{
		"Date":   {"today"},
		"Dict":   {"a=1"},
		"Broken": {"=1"},
		"Lines":  {"a\nb"},
		"Return": {"a\rb"},
		"Long":   {strings.Repeat("a", maxSignatureBaseSize+1)},
		"Half":   {strings.Repeat("a", maxSignatureBaseSize/2)},
		"Other":  {strings.Repeat("a", maxSignatureBaseSize/2)},
	}}
	for component, want := range map[string]error{
		`"@method" "@method"`:                  errComponentTwice,
		`"dict";key="a" "dict" "dict";key="a"`: errComponentTwice,
		`"@status"`:                            errComponentUnknown,
		`"@query-param";name="a"`:              errComponentUnknown,
		`"@method";req`:                        errComponentUnknown,
		`"@method";key="a"`:                    errComponentUnknown,
		`"dict";sf`:                            errComponentUnknown,
		`"dict";bs`:                            errComponentUnknown,
		`"dict";tr`:                            errComponentUnknown,
		`"dict";key="a";sf`:                    errComponentUnknown,
		`"dict";key=a`:                         errComponentUnknown,
		`"dict";key="b"`:                       errComponentAbsent,
		`"absent"`:                             errComponentAbsent,
		`"absent";key="a"`:                     errComponentAbsent,
		`"broken";key="a"`:                     errComponentBroken,
		`"lines"`:                              errComponentBroken,
		`"return"`:                             errComponentBroken,
		`"Date"`:                               errMalformed,
		`date`:                                 errMalformed,
		`1`:                                    errMalformed,
		`"long"`:                               errBaseTooLong,
		`"half" "other"`:                       errBaseTooLong,
	} {
		if got, err := baseOf(t, m, component); !errors.Is(err, want) {
			t.Errorf("base of %s = %.100q, %v, want %v", component, got, err, want)
		}
	}
}
