package caddymodule

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// openAPI is docs/openapi.json, as much of it as these tests look at.
type openAPI struct {
	Paths map[string]map[string]struct {
		Parameters []struct{ Name, In string }
		Responses  map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

// schema is a JSON Schema, as much of it as the file uses.
type schema struct {
	Ref                  string `json:"$ref"`
	Type, Format         string
	Enum                 []string
	Properties           map[string]schema
	Required             []string
	Items                *schema
	AdditionalProperties json.RawMessage
}

func readOpenAPI(t *testing.T) *openAPI {
	t.Helper()
	data, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := new(openAPI)
	if err := json.Unmarshal(data, doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// check returns what a value has that the schema does not allow.
func (doc *openAPI) check(s schema, value any, where string) (wrong []string) {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		named, ok := doc.Components.Schemas[name]
		if !ok {
			return []string{fmt.Sprintf("%s: no schema %q", where, name)}
		}
		return doc.check(named, value, where)
	}
	bad := func(want string) []string { return []string{fmt.Sprintf("%s: got %v, want %s", where, value, want)} }
	switch s.Type {
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return bad("an object")
		}
		for _, name := range s.Required {
			if _, ok := object[name]; !ok {
				wrong = append(wrong, where+": lacks "+name)
			}
		}
		for name, v := range object {
			property, ok := s.Properties[name]
			if !ok {
				var more schema
				if json.Unmarshal(s.AdditionalProperties, &more) != nil {
					wrong = append(wrong, where+": has "+name+", which is not described")
					continue
				}
				property = more
			}
			wrong = append(wrong, doc.check(property, v, where+"."+name)...)
		}
	case "array":
		list, ok := value.([]any)
		if !ok {
			return bad("a list")
		}
		for i, v := range list {
			wrong = append(wrong, doc.check(*s.Items, v, fmt.Sprintf("%s[%d]", where, i))...)
		}
	case "string":
		text, ok := value.(string)
		if !ok || s.Enum != nil && !slices.Contains(s.Enum, text) {
			return bad(fmt.Sprintf("a text %q", s.Enum))
		}
		if _, err := time.Parse(time.RFC3339, text); s.Format == "date-time" && err != nil {
			return bad("a time")
		}
	case "integer", "number":
		if n, ok := value.(float64); !ok || s.Type == "integer" && n != float64(int64(n)) {
			return bad("a number")
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			return bad("true or false")
		}
	default:
		return bad("a schema with a type")
	}
	return wrong
}

// Everything that docs/openapi.json describes is answered as it says, and nothing else is.
func TestTheAdminAPIIsAsDescribed(t *testing.T) {
	doc := readOpenAPI(t)
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\nnonsense\nCrawl-delay: 10\n", &Handler{Ban: thrice(), Trap: []string{"/private/trap"}})
	th.clock.advance(time.Since(th.clock.now())) // the API's clock is the real one
	th.ask("GET", "/robots.txt", gptBot)
	th.ask("GET", "/private/trap", chrome)
	th.ask("GET", "/", "")
	for range 3 {
		th.ask("GET", "/private/", gptBot)
	}
	described := make(map[string]bool)
	for path, methods := range doc.Paths {
		described[strings.TrimSuffix(path, "{host}")] = true
		target := strings.Replace(path, "{host}", "site.example", 1)
		for method, operation := range methods {
			if method == "delete" {
				continue // has no content
			}
			code, body := admin(t, strings.ToUpper(method), target+"?format=json")
			if !slices.ContainsFunc(operation.Parameters, func(p struct{ Name, In string }) bool { return p.Name == "format" }) {
				code, body = admin(t, strings.ToUpper(method), target)
			}
			content, ok := operation.Responses[fmt.Sprint(code)]
			if !ok {
				t.Errorf("%s %s: answered %d, which is not described: %s", method, path, code, body)
				continue
			}
			var value any
			if err := json.Unmarshal([]byte(body), &value); err != nil {
				t.Errorf("%s %s: %v", method, path, err)
				continue
			}
			if list, ok := value.([]any); ok && len(list) == 0 {
				t.Errorf("%s %s: an empty list shows nothing", method, path)
			}
			for _, wrong := range doc.check(content.Content["application/json"].Schema, value, method+" "+path) {
				t.Error(wrong)
			}
		}
	}
	if len(described) == 0 {
		t.Fatal("docs/openapi.json describes no path")
	}
	for _, route := range testAPI().Routes() {
		if !described[route.Pattern] {
			t.Errorf("docs/openapi.json lacks %s", route.Pattern)
		}
		delete(described, route.Pattern)
	}
	for path := range described {
		t.Errorf("docs/openapi.json has %s, which is not answered", path)
	}
}
