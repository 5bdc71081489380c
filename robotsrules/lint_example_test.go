package robotsrules_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func ExamplePolicy_Shadowed() {
	file := robotsrules.Parse([]byte(`User-agent: *
Disallow: /shop/
Allow: /shop/*
Disallow: /tmp/
Disallow: /tmp/
`), robotsrules.Options{})
	shadows, all := robotsrules.Compile(file, robotsrules.MatchSubstring).Shadowed()
	for _, s := range shadows {
		fmt.Printf("line %d never decides: %s is %s\n", s.Rule.Line, s.Example, s.Binding.Decide(s.Example))
	}
	fmt.Println(all)
	// Output:
	// line 2 never decides: /shop/ is allowed by line 3 "Allow: /shop/*" in the record for "*" (line 1)
	// line 5 never decides: /tmp/ is disallowed by line 4 "Disallow: /tmp/" in the record for "*" (line 1)
	// true
}

func ExampleDifferences() {
	text := []byte(`User-agent: *
Disallow: /
Allow: /open/
`)
	differences, _ := robotsrules.Differences(text, robotsrules.Options{}, robotsrules.MatchSubstring)
	for _, d := range differences {
		fmt.Printf("line %d: %s\n", d.Line, d.Example)
		for dialect, decision := range d.Decisions {
			fmt.Printf("%s: %s\n", robotsrules.Dialect(dialect), decision)
		}
	}
	// Output:
	// line 3: /open/
	// rfc9309: allowed by line 3 "Allow: /open/" in the record for "*" (line 1)
	// draft1996: disallowed by line 2 "Disallow: /" in the record for "*" (line 1)
	// norobots1994: disallowed by line 2 "Disallow: /" in the record for "*" (line 1)
}
