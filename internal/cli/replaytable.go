package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	// maxTableRobots is how many robots the table shows; --csv and --json show all.
	maxTableRobots = 50

	// maxTableLines is how many lines and paths it shows of each.
	maxTableLines = 3
)

// printReplay prints what a log holds as tables that are no more than width columns wide.
func printReplay(out *bufio.Writer, report *compliance.Report, c replayCounts, width int) {
	if c.Requests == 1 {
		fmt.Fprint(out, "1 request")
	} else {
		fmt.Fprintf(out, "%s requests", humanize.Comma(c.Requests))
	}
	if !c.First.IsZero() {
		fmt.Fprintf(out, ", %s to %s", c.First.Local().Format(tableTime), c.Last.Local().Format(tableTime+" MST"))
	}
	fmt.Fprintln(out, ":")
	printCount(out, c.Browsers, "by browsers", width)
	printCount(out, c.Services, "by services", width)
	printCount(out, c.Apps, "by apps and libraries", width)
	printCount(out, c.Robots, "by robots and by clients without a User-Agent", width)
	if c.Unlogged > 0 {
		printCount(out, c.Unlogged, "that cannot be judged: their User-Agent is not in the log", width)
	}
	if c.Skipped > 0 {
		printCount(out, c.Skipped, "other lines of the log, which are not about requests", width)
	}
	var robots []compliance.Robot
	for _, site := range report.Sites {
		robots = append(robots, site.Robots...)
	}
	for i := range robots {
		robot := &robots[i]
		if robot.Observed > 0 && (robot.Class == crawler.Service.String() || robot.Class == crawler.App.String()) {
			printCount(out, robot.Observed, "would be refused: "+robotLabel(robot), width)
		}
	}
	fmt.Fprintln(out)
	printRobots(out, robots, width)
	printUnread(out, robots, width)
	fmt.Fprintln(out)
	printFear(out, robots, c, width)
	fmt.Fprintln(out)
	printSum(out, robots, c, width)
}

// printSum sums up what there was, and what refusals would save.
func printSum(out *bufio.Writer, robots []compliance.Robot, c replayCounts, width int) {
	all, broke := 0, 0
	for i := range robots {
		if robots[i].Class == crawler.Robot.String() {
			all++
			if robots[i].Disobedient > 0 {
				broke++
			}
		}
	}
	refused := c.RefusedRobots + c.RefusedUnstated + c.RefusedServices + c.RefusedApps + c.RefusedBrowsers
	fmt.Fprintln(out, fit(fmt.Sprintf("In all: %s of %s broke a rule; %s of %s requests would be refused.", humanize.Comma(int64(broke)),
		number(all, "robot"), humanize.Comma(refused), humanize.Comma(c.Requests)), width))
	if c.SavedBytes > 0 || c.SavedSeconds > 0 {
		took := func(seconds float64) time.Duration {
			return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
		}
		fmt.Fprintln(out, fit(fmt.Sprintf("That would save %s and %s of the back end, of %s and %s that robots cost.",
			humanize.Bytes(uint64(c.SavedBytes)), took(c.SavedSeconds), humanize.Bytes(uint64(c.RobotBytes)), took(c.RobotSeconds)), width))
	}
}

// tableTime is how tables write a time.
const tableTime = "2006-01-02 15:04"

// printCount prints how many there are of something, in a line of at most width columns.
func printCount[T int64 | uint64](out *bufio.Writer, n T, what string, width int) {
	fmt.Fprintln(out, fit(fmt.Sprintf("  %10s  %s", humanize.Comma(int64(n)), what), width))
}

// printRobots prints a row for each robot, and under the rows what they disobeyed.
func printRobots(out *bufio.Writer, robots []compliance.Robot, width int) {
	if len(robots) == 0 {
		fmt.Fprintln(out, "No robot came.")
		return
	}
	shown := robots[:min(len(robots), maxTableRobots)]
	columns := []compliance.Verdict{compliance.Allowed, compliance.Disallowed, compliance.TooFast, compliance.OffHours}
	for _, v := range []compliance.Verdict{compliance.Banned, compliance.Impostor, compliance.Exempt} {
		if slices.ContainsFunc(shown, func(r compliance.Robot) bool { return r.Of(v).Requests > 0 }) {
			columns = append(columns, v)
		}
	}
	head := []string{"ROBOT", "REQUESTS"}
	for _, v := range columns {
		head = append(head, strings.ToUpper(strings.ReplaceAll(v.String(), "_", " ")))
	}
	rows := [][]string{append(head, "ROBOTS.TXT")}
	for i := range shown {
		robot := &shown[i]
		row := []string{robotLabel(robot), humanize.Comma(int64(robot.Requests))}
		for _, v := range columns {
			row = append(row, humanize.Comma(int64(robot.Of(v).Requests)))
		}
		fetched := "never"
		if !robot.Fetched.IsZero() {
			fetched = robot.Fetched.Local().Format(time.DateOnly)
		}
		rows = append(rows, append(row, fetched))
	}
	printTable(out, rows, width)
	if more := robots[len(shown):]; len(more) > 0 {
		fmt.Fprintf(out, "and %s more; --csv and --json have them all\n", humanize.Comma(int64(len(more))))
	}
	headed := false
	for i := range shown {
		if robot := &shown[i]; robot.Disobedient > 0 && isRobot(robot) {
			if !headed {
				fmt.Fprintln(out, "\nWhat they disobeyed most, and where:")
				headed = true
			}
			printBroken(out, robot, width)
		}
	}
}

// minName is how many columns the names in a table have, however many are left.
const minName = 10

// printTable prints rows whose first column is a name, which is cut where the others leave it
// too few columns, and whose others are numbers.
func printTable(out *bufio.Writer, rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, w := range widths[1:] {
		width -= 2 + w
	}
	widths[0] = min(widths[0], max(width, minName))
	for _, row := range rows {
		fmt.Fprintf(out, "%-*s", widths[0], fit(row[0], widths[0]))
		for i, cell := range row[1:] {
			fmt.Fprintf(out, "  %*s", widths[1+i], cell)
		}
		fmt.Fprintln(out)
	}
}

// printBroken prints the lines that a robot disobeyed most, and the paths.
func printBroken(out *bufio.Writer, robot *compliance.Robot, width int) {
	fmt.Fprintln(out, fit(robotLabel(robot), width))
	for _, line := range robot.Lines[:min(len(robot.Lines), maxTableLines)] {
		what := line.Rule
		if line.Line > 0 {
			what = fmt.Sprintf("line %d %q", line.Line, line.Rule)
		}
		printCount(out, line.Requests, printable(what), width)
	}
	for _, path := range robot.Paths[:min(len(robot.Paths), maxTableLines)] {
		printCount(out, path.Requests, printable(path.Path), width)
	}
}

// printUnread prints who would have been refused as too fast although its operator says that it
// reads no Crawl-delay.
func printUnread(out *bufio.Writer, robots []compliance.Robot, width int) {
	headed := false
	for i := range robots {
		if !robots[i].UnreadDelay {
			continue
		}
		if !headed {
			fmt.Fprintln(out, "\nToo fast, but their operators say that they read no Crawl-delay (see unpaced):")
			headed = true
		}
		who := crawler.Identity{Key: strings.ToLower(robots[i].Robot)}
		c, _ := who.Crawler()
		printCount(out, robots[i].Of(compliance.TooFast).Requests, fmt.Sprintf("%s of %s", printable(robots[i].Robot), c.Operator), width)
	}
}

// printFear prints what would have been refused that does not call itself a robot, also when
// that is nothing: this is what an owner has to know before anything is enforced.
func printFear(out *bufio.Writer, robots []compliance.Robot, c replayCounts, width int) {
	fmt.Fprintln(out, "What would have been refused that does not call itself a robot:")
	printCount(out, c.RefusedBrowsers, "by browsers", width)
	printCount(out, c.RefusedServices, "by services", width)
	printCount(out, c.RefusedApps, "by apps and libraries", width)
	printCount(out, c.RefusedUnstated, "by clients without a User-Agent", width)
	for i := range robots {
		if robot := &robots[i]; robot.Observed > 0 && !isRobot(robot) {
			printBroken(out, robot, width)
		}
	}
}

// isRobot reports whether a row is of robots that say that they are.
func isRobot(robot *compliance.Robot) bool {
	return robot.Class == crawler.Robot.String() || robot.Class == compliance.OtherRobots
}

// robotLabel names a robot in a table.
func robotLabel(robot *compliance.Robot) string {
	switch {
	case robot.Class == compliance.OtherRobots:
		return "(all others)"
	case robot.Robot == "" && robot.Class == "unstated":
		return "(no User-Agent)"
	case robot.Robot == "":
		return "(" + robot.Class + " without a name)"
	case robot.Class == "app", robot.Class == "service":
		return printable(robot.Robot) + " (" + robot.Class + ")"
	}
	return printable(robot.Robot)
}

// fit cuts a text to width columns.
func fit(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return strings.TrimRight(string(runes[:max(width-1, 0)]), " ") + "…"
}
