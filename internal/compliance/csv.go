package compliance

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
)

// WriteRobots writes a table of the robots as CSV, one in a row. Cells that a
// spreadsheet would take for a formula begin with an apostrophe.
func (r *Report) WriteRobots(w io.Writer) error {
	rows := [][]string{{"site", "robot", "class", "standing", "record", "requests", "disobedient", "refused", "observed", "obedience",
		"allowed", "disallowed", "too_fast", "off_hours", "exempt", "impostor", "banned",
		"first", "last", "robots_txt_fetches", "robots_txt_fetched", "robots_txt_version", "line", "rule", "banned_until", "measured", "bytes", "seconds", "saved_bytes", "saved_seconds", "2xx", "3xx", "4xx", "5xx", "operator", "purpose"}}
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			row := []string{s.Site, robot.Robot, robot.Class, robot.Standing, robot.Record,
				number(robot.Requests), number(robot.Disobedient), number(robot.Refused), number(robot.Observed), strconv.FormatFloat(robot.Obedience, 'f', 4, 64)}
			for v := range Verdict(verdicts) {
				row = append(row, number(robot.Of(v).Requests))
			}
			row = append(row, stamp(robot.First), stamp(robot.Last), number(robot.Fetches), stamp(robot.Fetched), robot.FetchedVersion)
			if len(robot.Lines) > 0 {
				row = append(row, known(robot.Lines[0].Line), robot.Lines[0].Rule)
			} else {
				row = append(row, "", "")
			}
			row = append(row, stamp(robot.BannedUntil), number(robot.Measured), number(robot.Bytes), decimal(robot.Seconds),
				number(robot.SavedBytes), decimal(robot.SavedSeconds))
			for _, class := range statusClasses {
				row = append(row, number(robot.Statuses[class]))
			}
			rows = append(rows, append(row, robot.Operator, robot.Purpose))
		}
	}
	return writeCSV(w, rows)
}

// WriteEvidence writes the disobedient requests that are kept as CSV, one in a row, as
// WriteRobots does.
func (r *Report) WriteEvidence(w io.Writer) error {
	rows := [][]string{{"site", "robot", "class", "standing", "time", "method", "path", "status", "verdict", "line", "rule", "address"}}
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			for _, e := range robot.Evidence {
				rows = append(rows, []string{s.Site, robot.Robot, robot.Class, robot.Standing,
					stamp(e.Time), e.Method, e.Path, known(e.Status), e.Verdict.String(), known(e.Line), e.Rule, e.Address})
			}
		}
	}
	return writeCSV(w, rows)
}

// writeCSV writes rows whose cells may be anything.
func writeCSV(w io.Writer, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = defused(visible(row[i]))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// defused returns a cell that no spreadsheet takes for a formula.
func defused(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// stamp returns a time as RFC 3339 has it, and nothing for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// known returns a number of which 0 says that there is none.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
