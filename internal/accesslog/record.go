package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Record is one request, as it was logged. What a log does not have is empty.
//
// The strings share memory with those of neighbouring records, up to 4 KiB: they stay
// as they are for as long as they are kept, but clone those that are kept for long.
type Record struct {
	// Time is the time of the line, in UTC. Caddy and nginx write it when the answer
	// ends, Apache when the request comes.
	Time time.Time

	// Duration is how long the answer took, where the log has it for certain: Caddy's
	// has it with duration_format seconds, the default, and string.
	Duration time.Duration

	// Method and Target are what the client sent in its request line. A request line that
	// is none, as port scanners send them, is all Target.
	Method, Target string

	// Host is the site that was asked, as the client wrote it in Caddy's log; in
	// others the server's name for it, without port 80 or 443. The plain formats have none.
	Host string

	// UserAgent is what the client called itself. If it is empty and UserAgentLogged, the
	// client did not say; if not, the log does not. A filter that deletes this one header
	// from Caddy's log looks as if no client ever said.
	UserAgent       string
	UserAgentLogged bool

	// Address is the client's, or what the server was configured to write in its place: a host
	// name, or an address with its end masked.
	Address string

	// Status and Size are those of the answer, Size in bytes.
	Status int
	Size   int64

	// TLS is whether the log says that the request was encrypted.
	TLS bool
}

// A parser makes records of lines.
type parser struct {
	text text
	zone *time.Location // of times that state none
}

// parse reads one line into r. The error says what is wrong with it, or is errSkip.
func (p *parser) parse(line []byte, r *Record) error {
	*r = Record{}
	if line[0] == '{' {
		return p.caddy(line, r)
	}
	return p.common(line, r)
}

// otherFormat says what is wrong with a line that is in no format, where that is known.
func otherFormat(line []byte) error {
	switch {
	case bytes.Contains(line, []byte("\t"+accessLogger)):
		return errConsole
	case bytes.Contains(line, []byte(`{"level":"`)):
		return errPrefix
	}
	return errFormat
}

// Problem is a line that could not be read.
type Problem struct {
	File    string
	Line    int64  // counted from 1, after decompression
	Reason  string // what is wrong with it
	Excerpt string // how it begins, quoted
}

// String is the problem as "file:line: reason: excerpt".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Reason, p.Excerpt)
}

// Reasons of a [Problem] that something can be done about.
const (
	ReasonConsole = `the "format console" of Caddy, which is for terminals`
	ReasonPrefix  = "something stands before Caddy's JSON, as of systemd's journal or Docker"
)

// What can be wrong with a line.
var (
	errFormat    = errors.New("neither Caddy's JSON nor the Common or Combined Log Format")
	errConsole   = errors.New(ReasonConsole)
	errPrefix    = errors.New(ReasonPrefix)
	errJSON      = errors.New("not well-formed JSON")
	errNoTime    = errors.New(`no time: it is looked for in the field "ts"`)
	errTime      = errors.New("the time is not between 1990 and 2199, or not in a time_format that Caddy has a name for")
	errNoRequest = errors.New("it does not say what was asked for (request>uri): a log filter may have taken it")
	errCut       = errors.New("a quoted field has no end")
	errLong      = errors.New("longer than 1 MiB")
)

// errSkip says that a line is not about a request.
var errSkip = errors.New("not about a request")

const (
	maxProblems = 5
	maxExcerpt  = 80
)

// tally counts the lines that gave no record.
type tally struct {
	skipped    int64
	unreadable int64
	problems   []Problem
}

func (t *tally) add(file string, line int64, text []byte, err error) {
	if err == errSkip {
		t.skipped++
		return
	}
	t.unreadable++
	if len(t.problems) < maxProblems {
		if err == errFormat {
			err = otherFormat(text)
		}
		t.problems = append(t.problems, Problem{file, line, err.Error(), excerpt(text)})
	}
}

// excerpt quotes the beginning of a line, so that it can be shown on a terminal.
func excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		return strconv.QuoteToASCII(string(text))
	}
	return strconv.QuoteToASCII(string(text[:maxExcerpt])) + "..."
}
