//go:build unix

package accesslog_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

func TestANamedPipeIsReadOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	go os.WriteFile(name, gzipped(t, log("pipe", 2, 4)), 0o600)
	r := open(t, accesslog.Options{}, writeFile(t, "a.log", log("a", 1, 3)), name)
	checkTargets(t, r, "a1 pipe2 a3 pipe4")
	if done, total := r.Progress(); done == 0 || total != 0 {
		t.Errorf("Progress() = %d, %d, want some, 0", done, total)
	}
	if r.Err() != nil {
		t.Errorf("Err() = %v, want nil", r.Err())
	}
}
