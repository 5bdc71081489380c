package caddymodule

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// meter measures what it costs to answer a robot. People's answers are not looked at.
//
// Meters are used again, so that a robot's ordinary request allocates nothing. As net/http has it, no
// handler uses a response after it has returned; one that does gets an error or, once the meter has
// another request, does to that what it would do to net/http's own buffers.
type meter struct {
	caddyhttp.ResponseWriterWrapper
	status int
	bytes  int64
	begun  time.Duration
}

var meters = sync.Pool{New: func() any { return new(meter) }}

// newMeter returns a meter of w that begins now, by any clock that goes steadily; stop must follow.
func newMeter(w http.ResponseWriter, now time.Duration) *meter {
	m := meters.Get().(*meter)
	*m = meter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, begun: now}
	return m
}

// answered is what was measured of an answer. The zero value is that of a request that was refused.
type answered struct {
	status   int // 0: nothing was written
	measured bool
	bytes    int64
	took     time.Duration
}

// stop returns what was measured until now, by the same clock. err is what the handler returned,
// which answers where nothing was written.
func (m *meter) stop(now time.Duration, err error) answered {
	a := answered{status: m.status, measured: true, bytes: m.bytes, took: now - m.begun}
	if a.status == 0 && err != nil {
		a.status = statusOfError(err)
	}
	m.ResponseWriter = ended{}
	meters.Put(m)
	return a
}

// statusOfError is the status that Caddy answers an error with; 0 if it says none.
func statusOfError(err error) int {
	var failed caddyhttp.HandlerError
	if errors.As(err, &failed) {
		return failed.StatusCode
	}
	return 0
}

// WriteHeader implements http.ResponseWriter.
func (m *meter) WriteHeader(status int) {
	if m.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		m.status = status
	}
	m.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (m *meter) Write(p []byte) (int, error) {
	m.begin()
	n, err := m.ResponseWriterWrapper.Write(p)
	m.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom: where the response can send a file by itself, it does.
func (m *meter) ReadFrom(r io.Reader) (int64, error) {
	m.begin()
	n, err := m.ResponseWriterWrapper.ReadFrom(r)
	m.bytes += n
	return n, err
}

// begin notes that a body is written, with status 200 unless another one was.
func (m *meter) begin() {
	if m.status == 0 {
		m.status = http.StatusOK
	}
}

// ended is the response of a request that is over.
type ended struct{}

var errEnded = errors.New("the request is over")

func (ended) Header() http.Header       { return make(http.Header) }
func (ended) Write([]byte) (int, error) { return 0, errEnded }
func (ended) WriteHeader(int)           {}

// Interface guards
var (
	_ http.ResponseWriter = (*meter)(nil)
	_ io.ReaderFrom       = (*meter)(nil)
)
