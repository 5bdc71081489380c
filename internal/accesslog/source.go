package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// probeSize is how far a file is searched for its first time.
const probeSize = maxLine

// A source is one file, pipe or standard input. It holds nothing but a name until it is
// its turn.
type source struct {
	name  string
	index int         // in the order of the names
	info  os.FileInfo // nil for standard input
	stdin io.Reader
	first time.Time // the first one in a file; zero if it was not found, or for a pipe

	lines  *lines
	parser parser
	record Record // the one that is next
	close  func()
}

// newSource looks at what a name stands for. The first time of a file is looked up.
func newSource(name string, o Options) (*source, error) {
	if name == "-" {
		if o.Stdin == nil {
			return nil, errors.New("-: there is no standard input here: name a file")
		}
		return &source{name: "standard input", stdin: o.Stdin, parser: parser{zone: o.Zone}}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: a directory: name the files in it", name)
	}
	s := &source{name: name, info: info, parser: parser{zone: o.Zone}}
	if !s.isFile() {
		return s, nil
	}
	return s, s.probe()
}

// isFile reports whether it can be opened twice, and has a size.
func (s *source) isFile() bool { return s.info != nil && s.info.Mode().IsRegular() }

// probe finds the first time of a file. What is wrong with its content is said when it
// is read.
func (s *source) probe() error {
	file, err := os.Open(s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	content, release, err := decompress(file)
	if err != nil {
		return nil
	}
	defer release()
	s.lines = newLines(io.LimitReader(content, probeSize))
	if s.advance(&tally{}) == nil {
		s.first = s.record.Time
	}
	s.lines = nil
	return nil
}

// isSame reports whether both names stand for one file.
func (s *source) isSame(t *source) bool {
	if s.info == nil || t.info == nil {
		return s.info == nil && t.info == nil
	}
	return os.SameFile(s.info, t.info)
}

// compare orders sources by the time of the record that is next; of equal times, the
// file that was named first is first.
func (s *source) compare(t *source) int {
	return cmp.Or(s.record.Time.Compare(t.record.Time), s.index-t.index)
}

// open begins to read. Bytes that are read are counted in done.
func (s *source) open(done *int64) error {
	from, closeFile := s.stdin, func() {}
	if s.info != nil {
		file, err := os.Open(s.name)
		if err != nil {
			return err
		}
		from, closeFile = file, func() { file.Close() }
		if info, err := file.Stat(); err != nil || !os.SameFile(info, s.info) {
			closeFile()
			return fmt.Errorf("%s: another file has taken its place, as happens when logs are rotated: read them again", s.name)
		}
	}
	content, release, err := decompress(&counter{from, done})
	if err != nil {
		closeFile()
		return fmt.Errorf("%s: %w", s.name, explain(err))
	}
	s.lines = newLines(content)
	s.close = func() {
		release()
		closeFile()
		s.lines = nil
	}
	return nil
}

// advance reads up to the next record. Lines that give none are counted. The error is
// io.EOF after the last one, or says why there are no more.
func (s *source) advance(t *tally) error {
	for {
		line, err := s.lines.next()
		switch {
		case err == errLong:
		case err == io.EOF:
			return err
		case err != nil:
			return fmt.Errorf("%s: after line %d: %w", s.name, s.lines.number, explain(err))
		case len(line) == 0:
			continue
		default:
			err = s.parser.parse(line, &s.record)
		}
		if err == nil {
			return nil
		}
		t.add(s.name, s.lines.number, line, err)
	}
}

// counter counts the bytes that are read.
type counter struct {
	from io.Reader
	done *int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	*c.done += int64(n)
	return n, err
}
