package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// visits is how many random requests are made, and seed which.
const (
	visits = 2000
	seed   = 9309
)

// knownAgents returns the User-Agents of the case files of package crawler that can stand
// in a header, at least 400 of them.
func knownAgents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../crawler/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var agents []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(text)) {
			columns := strings.SplitN(row, "|", 3)
			if strings.HasPrefix(row, "#") || len(columns) != 3 {
				continue
			}
			agent := strings.TrimSpace(columns[2])
			if unquoted, err := strconv.Unquote(agent); err == nil {
				agent = unquoted
			}
			if httpguts.ValidHeaderFieldValue(agent) {
				agents = append(agents, agent)
			}
		}
	}
	if len(agents) < 400 {
		t.Fatalf("User-Agents in %v: got %d, want at least 400", files, len(agents))
	}
	return agents
}

// ofClass returns those of the User-Agents that are of a class.
func ofClass(agents []string, class crawler.Class) []string {
	return slices.DeleteFunc(slices.Clone(agents), func(agent string) bool { return crawler.Identify(agent).Class != class })
}

// targets returns the paths that a robots.txt speaks of, and others near them.
func targets(file *robotsrules.File) []string {
	all := []string{"/", "/index.html", "/news.html?from=feed", "/favicon.ico", "/PRIVATE/", "/a/private/"}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			path := rule.Pattern()
			all = append(all, path, path+"x", path+"/deep/page.html", path+"deep/page.html", path+"?q=1", strings.TrimSuffix(path, "/"))
			if len(path) > 1 {
				all = append(all, fmt.Sprintf("/%%%02x%s", path[1], path[2:])) // another spelling of the same
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(target string) bool {
		return !strings.HasPrefix(target, "/") || strings.Contains(target, "//") // that is judged in two readings
	})
}

// verdict is what the packages say of a request, asked without Caddy.
type verdict struct {
	class  crawler.Class
	record string // that binds the client; "" for none
	status int
}

func judge(policy *robotsrules.Policy, agent, target string) verdict {
	who := crawler.Identify(agent)
	var binding *robotsrules.Binding
	robot := robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products}
	switch who.Class {
	case crawler.Robot:
		binding = policy.Bind(robot)
	case crawler.App, crawler.Service:
		binding = policy.FindProgram(robot, who.Handset)
	case crawler.Unstated:
		binding = policy.Default()
	}
	if binding == nil {
		return verdict{who.Class, "", 200}
	}
	if binding.Decide(target).Allowed() {
		return verdict{who.Class, binding.Token(), 200}
	}
	return verdict{who.Class, binding.Token(), 403}
}

func TestCaddyAgreesWithThePackagesItIsMadeOf(t *testing.T) {
	t.Parallel()
	file := robotsrules.Parse([]byte(read(t, "example/robots.txt")), robotsrules.Options{})
	policy := robotsrules.Compile(file, robotsrules.MatchSubstring)
	agents, paths := knownAgents(t), targets(file)
	browsers, robots := ofClass(agents, crawler.Browser), ofClass(agents, crawler.Robot)
	named := slices.DeleteFunc(slices.Clone(agents), func(agent string) bool {
		record := judge(policy, agent, "/").record
		return record == "" || record == "*"
	})
	if len(named) < 5 {
		t.Fatalf("User-Agents that a record of example/robots.txt names: got %q, want at least 5", named)
	}
	c := start(t, `
http://:{$PORT} {
	robots {
		source file example/robots.txt
		too_fast observe
	}
	respond "page"
}
`, nil)

	// Each of these sends as many requests, whatever the case files hold most of.
	crowds := [][]string{
		browsers, browsers, browsers, robots, robots, named, named,
		ofClass(agents, crawler.App), ofClass(agents, crawler.Service), ofClass(agents, crawler.Unstated),
	}
	random := rand.New(rand.NewPCG(seed, seed))
	seen := make(map[verdict]int)
	classes := make(map[crawler.Class]int)
	for i := range visits {
		crowd := crowds[i%len(crowds)]
		agent, target := crowd[random.IntN(len(crowd))], paths[random.IntN(len(paths))]
		want := judge(policy, agent, target)
		if want.class == crawler.Browser && want.status != 200 {
			t.Errorf("GET %s for the browser %q: the packages say %d", target, agent, want.status)
		}
		c.expect(t, "", target, agent, want.status)
		seen[want]++
		classes[want.class]++
	}

	// What the numbers above are worth.
	for class, least := range map[crawler.Class]int{crawler.Browser: 500, crawler.Robot: 500, crawler.App: 100, crawler.Service: 100, crawler.Unstated: 100} {
		if classes[class] < least {
			t.Errorf("requests of class %s: got %d of %d, want at least %d", class, classes[class], visits, least)
		}
	}
	const least = 5
	for _, one := range []verdict{
		{crawler.Robot, "*", 403}, {crawler.Robot, "*", 200}, {crawler.Robot, "GPTBot", 403}, {crawler.Robot, "GPTBot", 200},
		{crawler.Robot, "Bytespider", 403}, {crawler.App, "Wget", 403}, {crawler.App, "", 200},
	} {
		if seen[one] < least {
			t.Errorf("requests of class %s bound by the record for %q with status %d: got %d, want at least %d",
				one.class, one.record, one.status, seen[one], least)
		}
	}
}
