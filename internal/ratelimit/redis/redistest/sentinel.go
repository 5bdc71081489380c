package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// StartSentinel runs a Sentinel that watches over master under a name. So many Sentinels have to
// agree that it is gone for another server to take its place, which they do after two seconds.
func StartSentinel(tb testing.TB, master *Server, name string, quorum int) *Server {
	tb.Helper()
	return start(tb, &Server{config: func(s *Server) error {
		host, port, err := net.SplitHostPort(master.Addr())
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(s.dir, sentinelFile), fmt.Appendf(nil, `port %s
bind 127.0.0.1
dir %q
logfile ""
sentinel monitor %s %s %s %d
sentinel down-after-milliseconds %[3]s 2000
sentinel failover-timeout %[3]s 4000
`, s.port, s.dir, name, host, port, quorum), 0o600)
	}})
}

// sentinelFile is the config of a Sentinel, which it also writes to.
const sentinelFile = "sentinel.conf"
