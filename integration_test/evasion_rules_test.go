package integration

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const shutSite = `
http://shut.test:{$PORT} {
	root * {$ROOT}
	robots
	file_server
}
`

// namesMore reports whether a target names more than robots.txt: a folder that it leads through, as
// /x/../robots.txt does, or what stands behind, such as a query.
func namesMore(target string) bool {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return false
	}
	before, found := strings.CutSuffix(u.Path, "robots.txt")
	return !found || strings.Trim(before, "/.") != "" || u.RawQuery != ""
}

func TestTheRulesAreToldInAnySpelling(t *testing.T) {
	root := t.TempDir()
	const rules = "User-agent: *\nDisallow: /\n"
	write(t, root+"/robots.txt", rules)
	write(t, root+"/index.html", marker+"/index.html")
	c := start(t, shutSite, map[string]string{"ROOT": root})
	w := &wire{address: c.address(), open: http1}
	defer w.close()

	told := 0
	for _, s := range singles("/robots.txt", 100, 0) {
		target := strings.NewReplacer("{host}", "shut.test", "{HOST}", "SHUT.TEST").Replace(s.target)
		person, err := w.ask("shut.test", target, chrome)
		robot, err2 := w.ask("shut.test", target, bingbot)
		if err != nil || err2 != nil {
			t.Errorf("%q: %v, %v", target, err, err2)
			continue
		}
		isRules := person.body == rules
		switch {
		case isRules && robot.body == rules:
			told++
		case isRules && !namesMore(target):
			t.Errorf("%q, %s: a person is served the rules, a robot is answered %d", target, s.kinds, robot.status)
		case !isRules && robot.status == http.StatusOK && robot.body != "": // another host is nobody's site, which Caddy answers so
			t.Errorf("%q, %s: a robot is served %q", target, s.kinds, robot.body)
		}
	}
	if told < 50 {
		t.Errorf("a robot was told the rules in %d spellings, want at least 50", told)
	}
}
