package compliance_test

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

func ExampleLedger() {
	noon := time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)
	ledger := compliance.NewLedger(compliance.Options{})
	ledger.Note(&compliance.Event{
		Time: noon, Site: "example.com", Robot: "GPTBot", Class: "robot", Record: "GPTBot",
		Verdict: compliance.Disallowed, Refused: true, Line: 2, Rule: "Disallow: /private/",
		Method: "GET", Path: "/private/figs", Address: "203.0.113.9", Status: 403,
	})
	ledger.Note(&compliance.Event{Time: noon, Site: "example.com", Robot: "GPTBot", Class: "robot", Record: "GPTBot", Status: 200})

	for _, robot := range ledger.Snapshot(noon).Sites[0].Robots {
		fmt.Printf("%s kept to the rules in %.0f%% of %d requests\n", robot.Robot, 100*robot.Obedience, robot.Requests)
		fmt.Println(robot.Lines[0].Line, robot.Lines[0].Rule)
		fmt.Println(robot.Evidence[0].Path, "from", robot.Evidence[0].Address)
	}
	// Output:
	// GPTBot kept to the rules in 50% of 2 requests
	// 2 Disallow: /private/
	// /private/figs from 203.0.113.0/24
}
