package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	// maxTableRobots is how many robots a table shows; --csv and --json show all.
	maxTableRobots = 50

	// maxTableLines is how many lines and paths it shows of each.
	maxTableLines = 3

	// Of a log of several sites so many are shown, and so many robots of each, of which
	// so many with what they disobeyed.
	maxTableSites     = 10
	maxSiteRobots     = 10
	maxSiteDisobeyers = 3
)

// printReplay prints what a log holds as tables that are no more than width columns wide.
func printReplay(out *bufio.Writer, report *compliance.Report, c replayCounts, width int) {
	fmt.Fprint(out, count(c.Requests, "request"))
	if !c.First.IsZero() {
		fmt.Fprintf(out, ", %s to %s", c.First.Local().Format(tableTime), c.Last.Local().Format(tableTime+" MST"))
	}
	fmt.Fprintln(out, ":")
	rows := [][]string{{"BY", "REQUESTS", "WOULD BE REFUSED"}}
	for _, who := range []struct {
		what              string
		requests, refused int64
	}{
		{"browsers", c.Browsers, c.RefusedBrowsers}, {"services", c.Services, c.RefusedServices}, {"apps and libraries", c.Apps, c.RefusedApps},
		{"clients without a User-Agent", c.Unstated, c.RefusedUnstated}, {"robots", c.Robots, c.RefusedRobots},
	} {
		rows = append(rows, []string{who.what, humanize.Comma(who.requests), humanize.Comma(who.refused)})
	}
	printTable(out, rows, width)
	if c.Unlogged > 0 {
		printCount(out, c.Unlogged, "that cannot be judged: their User-Agent is not in the log", width)
	}
	if c.Skipped > 0 {
		printCount(out, c.Skipped, "other lines of the log, which are not about requests", width)
	}
	fmt.Fprintln(out)
	printFear(out, report.Sites, width)
	fmt.Fprintln(out)
	printSites(out, report.Sites, width)
	fmt.Fprintln(out)
	printSum(out, report.Sites, c, width)
}

// printSites prints what the robots did on each site, on those first to which they came most.
func printSites(out *bufio.Writer, sites []compliance.Site, width int) {
	if len(sites) < 2 {
		var robots []compliance.Robot
		for i := range sites {
			robots = sites[i].Robots
		}
		printRobots(out, robots, width, maxTableRobots, maxTableRobots)
		printUnread(out, robots, width)
		return
	}
	sites = slices.Clone(sites)
	slices.SortStableFunc(sites, func(a, b compliance.Site) int { return cmp.Compare(b.Requests, a.Requests) })
	for i := range sites[:min(len(sites), maxTableSites)] {
		s := &sites[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, fit(fmt.Sprintf("%s: %s by robots, %s against robots.txt, %s would be refused", hostLabel(s.Site),
			count(s.Requests, "request"), humanize.Comma(int64(s.Disobedient)), humanize.Comma(int64(s.Observed))), width))
		printRobots(out, s.Robots, width, maxSiteRobots, maxSiteDisobeyers)
		printUnread(out, s.Robots, width)
	}
	if len(sites) > maxTableSites {
		requests := uint64(0)
		for i := range sites[maxTableSites:] {
			requests += sites[maxTableSites+i].Requests
		}
		fmt.Fprintln(out, fit(fmt.Sprintf("\nand %s with %s by robots; --csv and --json have them all",
			count(len(sites)-maxTableSites, "more site"), count(requests, "request")), width))
	}
}

// printSum sums up what there was, and what refusals would save. A robot that came to several sites is one.
func printSum(out *bufio.Writer, sites []compliance.Site, c replayCounts, width int) {
	broke := make(map[string]bool)
	for i := range sites {
		for j := range sites[i].Robots {
			if r := &sites[i].Robots[j]; r.Class == crawler.Robot.String() {
				broke[r.Robot] = broke[r.Robot] || r.Disobedient > 0
			}
		}
	}
	all := len(broke)
	maps.DeleteFunc(broke, func(_ string, did bool) bool { return !did })
	refused := c.RefusedRobots + c.RefusedUnstated + c.RefusedServices + c.RefusedApps + c.RefusedBrowsers
	fmt.Fprintln(out, fit(fmt.Sprintf("In all: %s of %s broke a rule; %s of %s would be refused.", humanize.Comma(int64(len(broke))),
		count(all, "robot"), humanize.Comma(refused), count(c.Requests, "request")), width))
	var saved []string // as far as the log has it
	if c.RobotBytes > 0 {
		saved = append(saved, fmt.Sprintf("%s of the %s that robots were sent", humanize.Bytes(uint64(c.SavedBytes)), humanize.Bytes(uint64(c.RobotBytes))))
	}
	if c.RobotSeconds > 0 {
		took := func(seconds float64) time.Duration {
			d := time.Duration(seconds * float64(time.Second))
			if d > 10*time.Second {
				return d.Round(time.Second)
			}
			return d.Round(time.Millisecond)
		}
		saved = append(saved, fmt.Sprintf("%s of the %s that the back end took for them", took(c.SavedSeconds), took(c.RobotSeconds)))
	}
	if len(saved) > 0 {
		fmt.Fprintln(out, fit("That would save "+strings.Join(saved, ",\nand ")+".", 2*width))
	}
}

// count says how many there are of something.
func count[T int | int64 | uint64](n T, what string) string {
	if n != 1 {
		what += "s"
	}
	return humanize.Comma(int64(n)) + " " + what
}

// tableTime is how tables write a time.
const tableTime = "2006-01-02 15:04"

// printCount prints how many there are of something, in a line of at most width columns.
func printCount[T int64 | uint64](out *bufio.Writer, n T, what string, width int) {
	fmt.Fprintln(out, fit(fmt.Sprintf("  %10s  %s", humanize.Comma(int64(n)), what), width))
}

// printRobots prints a row for each robot, at most so many, and under the rows what they disobeyed, of
// at most so many of those.
func printRobots(out *bufio.Writer, robots []compliance.Robot, width, most, mostDisobeyers int) {
	if len(robots) == 0 {
		fmt.Fprintln(out, "No robot came.")
		return
	}
	shown := robots[:min(len(robots), most)]
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
	disobeyers := 0
	for i := range shown {
		if robot := &shown[i]; robot.Disobedient > 0 && isRobot(robot) && disobeyers < mostDisobeyers {
			if disobeyers == 0 {
				fmt.Fprintln(out, "\nWhat they disobeyed most, and where:")
			}
			disobeyers++
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
	printLines(out, robot, width)
}

// printLines prints the lines that somebody disobeyed most, and the paths.
func printLines(out *bufio.Writer, robot *compliance.Robot, width int) {
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

// printFear prints what would be refused that does not call itself a robot, on all sites together, also
// when that is nothing: this is what an owner has to know before anything is enforced.
func printFear(out *bufio.Writer, sites []compliance.Site, width int) {
	type feared struct {
		compliance.Robot        // where most of it would be refused
		site             string // which is there
		all              uint64 // what would be refused on all sites
	}
	var all []feared
	for i := range sites {
		for _, r := range sites[i].Robots {
			if r.Observed == 0 || isRobot(&r) {
				continue
			}
			same := slices.IndexFunc(all, func(q feared) bool { return q.Robot.Robot == r.Robot && q.Class == r.Class })
			if same < 0 {
				all = append(all, feared{r, sites[i].Site, r.Observed})
				continue
			}
			all[same].all += r.Observed
			if r.Observed > all[same].Observed {
				all[same].Robot, all[same].site = r, sites[i].Site
			}
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "Nothing would be refused that does not call itself a robot.")
		return
	}
	slices.SortStableFunc(all, func(a, b feared) int { return cmp.Compare(b.all, a.all) })
	fmt.Fprintln(out, "What would be refused that does not call itself a robot:")
	for i := range all[:min(len(all), maxSiteRobots)] {
		head := robotLabel(&all[i].Robot) + ": " + count(all[i].all, "request")
		if all[i].all > all[i].Observed {
			head += ", most on " + hostLabel(all[i].site)
		}
		fmt.Fprintln(out, fit(head, width))
		printLines(out, &all[i].Robot, width)
	}
	if len(all) > maxSiteRobots {
		fmt.Fprintf(out, "and %s; --csv and --json have them all\n", count(len(all)-maxSiteRobots, "other"))
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
