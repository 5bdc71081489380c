package compliance

// asked is what a robot asked for most, of its requests of one kind: the paths, and the lines that decided about
// them. The zero value is empty.
type asked struct {
	lines, paths frequent
}

// add counts a request. It reports whether it takes more room, or less.
func (a *asked) add(line int32, rule, path string) (changed bool) {
	changed = a.paths.add(0, line, path, mostPaths)
	if line != 0 || rule != "" {
		changed = a.lines.add(line, 0, rule, mostLines) || changed
	}
	return changed
}

// size returns how many bytes it takes besides its own.
func (a *asked) size() int { return a.lines.size() + a.paths.size() }

// merge adds what was counted elsewhere.
func (a *asked) merge(from *asked) {
	a.lines.merge(&from.lines, mostLines)
	a.paths.merge(&from.paths, mostPaths)
}

// report returns what is kept, as reportable does.
func (a *asked) report(requests uint64) ([]Line, []Path, uint64, []Line) {
	return reportable(a.lines.sorted(), a.paths.sorted(), requests)
}

// reportable returns the lines and paths that can be reported, of those that are given with the most frequent first,
// and how many of so many requests were for other paths: in all, and by the line that decided, as far as that can
// be said.
func reportable(allLines, allPaths []head, requests uint64) (lines []Line, paths []Path, others uint64, byRule []Line) {
	lines, paths, others = []Line{}, []Path{}, requests
	shown := make(map[int]uint64) // requests for the paths that are, by line
	about := false
	for _, h := range allPaths {
		if h.surely() && len(paths) < shownPaths {
			paths = append(paths, Path{Path: h.text, Line: int(h.by), Requests: h.count, About: h.over > 0})
			others -= min(h.count, others)
			shown[int(h.by)] += h.count
			about = about || h.over > 0
		}
	}
	for _, h := range allLines {
		if h.surely() {
			lines = append(lines, Line{int(h.number), h.text, h.count, h.over > 0})
		}
	}
	return lines, paths, others, restByRule(lines, shown, others, about)
}

// restByRule returns by which lines the requests for other paths were decided, where the requests for those that
// are shown are known: the most frequent line first. What no line has decided, or a rare one, comes last, with
// the number 0 and no rule.
func restByRule(lines []Line, shown map[int]uint64, others uint64, about bool) (byRule []Line) {
	for _, l := range lines {
		if l.Line == 0 {
			continue
		}
		n := min(l.Requests-min(shown[l.Line], l.Requests), others)
		if n > 0 {
			byRule = append(byRule, Line{l.Line, l.Rule, n, about || l.About})
			others -= n
		}
	}
	if others > 0 && len(byRule) > 0 {
		byRule = append(byRule, Line{Requests: others, About: about})
	}
	return byRule
}
