//go:build !unix

package redistest

import "os"

// pause and resume are no signals: this system has none that does it, and no redis-server.
var pause, resume os.Signal
