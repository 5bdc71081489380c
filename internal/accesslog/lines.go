package accesslog

import (
	"bytes"
	"io"
)

const (
	chunkSize = 64 << 10
	maxLine   = 1 << 20
)

// lines cuts what it reads into lines.
type lines struct {
	from    io.Reader
	number  int64 // of the line that was read last
	buffer  []byte
	start   int // of the line that is next, in buffer
	scanned int // up to here it has no end
	end     int // of what was read
	err     error
}

func newLines(from io.Reader) *lines {
	return &lines{from: from, buffer: make([]byte, chunkSize)}
}

// next returns a line without its end and without white space around it, valid until
// the next call. A last line without an end is one too, unless reading it failed. The
// error is errLong for a line that was passed over, with its beginning, or what the
// reader returned.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buffer[l.scanned:l.end], '\n'); i >= 0 {
			return checked(l.cut(l.scanned + i))
		}
		l.scanned = l.end
		if l.err == nil && l.end-l.start > maxLine {
			return l.long(), errLong
		}
		if l.err == nil {
			l.fill()
			continue
		}
		if l.err == io.EOF && l.start < l.end {
			return checked(l.cut(l.end))
		}
		return nil, l.err
	}
}

// checked refuses a line that is too long although it was read whole.
func checked(line []byte) ([]byte, error) {
	if len(line) > maxLine {
		return line, errLong
	}
	return line, nil
}

// cut takes the line that ends before end, and what ends it.
func (l *lines) cut(end int) []byte {
	line := l.buffer[l.start:end]
	l.start = min(end+1, l.end)
	l.scanned = l.start
	l.number++
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\uFEFF")) // a byte order mark
	}
	return bytes.Trim(line, " \t\r")
}

// long passes over the rest of a line, and returns its beginning.
func (l *lines) long() []byte {
	beginning := bytes.Clone(l.buffer[l.start : l.start+maxExcerpt+1])
	for l.err == nil {
		l.start, l.scanned, l.end = 0, 0, 0
		l.fill()
		if i := bytes.IndexByte(l.buffer[:l.end], '\n'); i >= 0 {
			l.cut(i)
			return beginning
		}
	}
	l.cut(l.end)
	return beginning
}

// fill reads more, to behind what there is.
func (l *lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buffer, l.buffer[l.start:l.end])
		l.scanned -= l.start
		l.start = 0
	}
	if l.end == len(l.buffer) {
		l.buffer = append(l.buffer, make([]byte, len(l.buffer))...)
	}
	const maxEmptyReads = 100
	for range maxEmptyReads {
		var n int
		n, l.err = l.from.Read(l.buffer[l.end:])
		l.end += n
		if n > 0 || l.err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
