package cli

import (
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// plainWidth is how many columns a table may have that does not go to a terminal.
const plainWidth = 120

// terminalWidth returns how many columns there are where w goes, unless COLUMNS says it.
func terminalWidth(w io.Writer) int {
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return plainWidth
}

// progress is a bar on a terminal that says how far a log is read. A nil one, for what is
// no terminal, shows nothing.
type progress struct {
	bar   *progressbar.ProgressBar
	w     io.Writer
	total int64
}

func newProgress(w io.Writer) *progress {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &progress{w: w, total: -2}
}

// show says that done of total bytes are read; a total of 0 is not known.
func (p *progress) show(done, total int64) {
	if p == nil {
		return
	}
	if total <= 0 {
		total = -1
	}
	if total != p.total {
		p.total = total
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionShowBytes(true), progressbar.OptionShowCount(), progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetDescription("reading"), progressbar.OptionSetPredictTime(true))
		p.bar.StartWithoutRender() // so that the first rate has a time to go by
		return
	}
	_ = p.bar.Set64(done) // a terminal that is gone is no reason to stop
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}
