package limitertest_test

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/limitertest"
)

// faultVariable names the fault that TestKit is to run with, in a process that
// is expected to fail.
const faultVariable = "LIMITERTEST_FAULT"

// faults are ways in which a store may go wrong, by the subtest of the kit that must
// notice. Every subtest has one.
var faults = func() map[string]func(*plain, request) (ratelimit.Result, error) {
	all := maps.Clone(paceFaults)
	maps.Copy(all, banFaults)
	return all
}()

// TestKit passes a sound limiter, unless the environment asks for a fault.
func TestKit(t *testing.T) {
	limitertest.Run(t, func(*testing.T) ratelimit.Limiter {
		if name, ok := os.LookupEnv(faultVariable); ok {
			return newFaulty(faults[name])
		}
		return newFaulty((*plain).take)
	})
}

// TestKitNoticesFaults runs each subtest of the kit with the limiter that it
// must refuse, in a process of its own since a test cannot expect another to
// fail.
func TestKitNoticesFaults(t *testing.T) {
	if _, ok := os.LookupEnv(faultVariable); ok {
		t.Skip("this process runs with a fault")
	}
	for subtest := range faults {
		t.Run(subtest, func(t *testing.T) {
			output, err := runKit(t, subtest)
			if err == nil {
				t.Fatalf("the kit passes a limiter with the fault of %q:\n%s", subtest, output)
			}
			if want := "--- FAIL: TestKit/" + underscored(subtest); !strings.Contains(output, want) {
				t.Errorf("output with the fault of %q: got\n%s\nwant a line with %q", subtest, output, want)
			}
		})
	}
}

// TestEverySubtestHasAFault compares the subtests that run with the faults.
func TestEverySubtestHasAFault(t *testing.T) {
	if _, ok := os.LookupEnv(faultVariable); ok {
		t.Skip("this process runs with a fault")
	}
	command := exec.Command(os.Args[0], "-test.run=^TestKit$", "-test.v")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("running the kit: %v\n%s", err, output)
	}
	if got, want := strings.Count(string(output), "--- PASS: TestKit/"), len(faults); got != want {
		t.Errorf("subtests that run: got %d, want %d, one for each fault:\n%s", got, want, output)
	}
}

// runKit runs one subtest of TestKit with the fault of its name.
func runKit(t *testing.T, subtest string) (string, error) {
	t.Helper()
	pattern := "^TestKit$/^" + regexp.QuoteMeta(underscored(subtest)) + "$"
	command := exec.Command(os.Args[0], "-test.run="+pattern)
	command.Env = append(os.Environ(), faultVariable+"="+subtest)
	output, err := command.CombinedOutput()
	return string(output), err
}

// underscored returns the name that go test gives to a subtest.
func underscored(name string) string { return strings.ReplaceAll(name, " ", "_") }
