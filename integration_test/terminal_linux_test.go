package integration

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal returns the two ends of a terminal that is so many columns wide.
func openTerminal(t *testing.T, columns uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		skip(t, "there are no terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	var locked, number uint32
	size := struct{ rows, columns, x, y uint16 }{24, columns, 0, 0}
	for request, argument := range map[uintptr]unsafe.Pointer{
		syscall.TIOCSPTLCK: unsafe.Pointer(&locked), syscall.TIOCGPTN: unsafe.Pointer(&number), syscall.TIOCSWINSZ: unsafe.Pointer(&size),
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(argument)); errno != 0 {
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// replayOnTerminal replays a log with what is told going to a terminal, and returns what it
// shows and, apart, what is printed.
func replayOnTerminal(t *testing.T, columns uint16, tables bool) (shown, printed string) {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "robots.txt"), "User-agent: *\nDisallow: /private/\n")
	var log bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&log, "203.0.113.7 - - [21/Nov/2026:12:00:00 +0000] \"GET /private/%d/%s HTTP/1.1\" 200 512 \"-\" \"FriendlyBot/1.0\"\n", i%7, strings.Repeat("page", 60))
	}
	write(t, filepath.Join(folder, "access.log"), log.String())

	screen, terminal := openTerminal(t, columns)
	run := exec.Command(caddyBinary(t), "robots", "replay", "access.log")
	run.Dir, run.Env = folder, []string{"HOME=" + folder, "TERM=xterm-256color"}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, terminal
	if tables {
		run.Stdout = terminal
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	text, _ := io.ReadAll(screen) // which ends with an error when the last writer is gone
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(text), out.String()
}

func TestReplayShowsItsProgressOnATerminal(t *testing.T) {
	shown, printed := replayOnTerminal(t, 80, false)
	for _, text := range []string{"reading", "%", "MB/s"} {
		if !strings.Contains(shown, text) {
			t.Errorf("the terminal does not show %q: %q", text, tail(shown, 500))
		}
	}
	if strings.Contains(shown, "GB/s") || strings.Contains(shown, "TB/s") {
		t.Errorf("it shows a rate that no disk has: %.300q", shown)
	}
	if strings.Contains(printed, "reading") || !strings.HasPrefix(printed, "200,000 requests") {
		t.Errorf("printed: got %.300q, want the tables alone", printed)
	}
	if last := shown[strings.LastIndex(strings.TrimRight(shown, "\r"), "\r")+1:]; strings.TrimSpace(last) != "" {
		t.Errorf("at the end the terminal still shows %q", last)
	}
}

func TestReplayTablesFitTheTerminal(t *testing.T) {
	for _, columns := range []uint16{80, 200} {
		shown, _ := replayOnTerminal(t, columns, true)
		_, tables, found := strings.Cut(shown, "200,000 requests")
		if !found {
			t.Fatalf("%d columns: got %q", columns, tail(shown, 500))
		}
		widest := 0
		for line := range strings.Lines(tables) {
			widest = max(widest, len([]rune(strings.TrimRight(line, "\r\n"))))
		}
		if widest != int(columns) { // a path is longer, and cut
			t.Errorf("%d columns: the widest line has %d", columns, widest)
		}
		if strings.Contains(tables, "\x1b") {
			t.Errorf("%d columns: the tables hold escapes: %q", columns, tail(tables, 500))
		}
	}
}
