package accesslog

import (
	"errors"
	"io"
	"slices"
	"time"
)

// Options are the settings of [Open]. The zero Options reads everything.
type Options struct {
	// Stdin is what "-" stands for.
	Stdin io.Reader

	// Since and Until leave out what is before Since, and what is at Until or after it.
	// The zero Time leaves out nothing.
	Since, Until time.Time

	// Zone is where times that state no zone are from, as Caddy writes them with
	// time_format wall and time_local. nil is UTC.
	Zone *time.Location
}

// Reader reads access logs in the order of time. It is not safe for concurrent use.
type Reader struct {
	since, until time.Time

	waiting []*source // sorted by their first time
	open    []*source // sorted by the time of the record that is next
	given   bool      // the record of open[0] was given to the caller

	done, total int64
	tally       tally
	failures    []error
}

// Open looks at the named files, of which "-" is standard input. It fails if none
// of them can be read; if some cannot, the others are, and [Reader.Err] names them.
func Open(names []string, o Options) (*Reader, error) {
	if len(names) == 0 {
		return nil, errors.New(`no log was named: name files, or "-" for standard input`)
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	r := &Reader{since: o.Since, until: o.Until}
	sized := true
	for i, name := range names {
		s, err := newSource(name, o)
		if err != nil {
			r.failures = append(r.failures, err)
			continue
		}
		if slices.ContainsFunc(r.waiting, s.isSame) {
			continue
		}
		s.index = i
		r.waiting = append(r.waiting, s)
		if s.isFile() {
			r.total += s.info.Size()
		}
		sized = sized && s.isFile()
	}
	if len(r.waiting) == 0 {
		return nil, r.Err()
	}
	if !sized {
		r.total = 0
	}
	slices.SortStableFunc(r.waiting, func(a, b *source) int { return a.first.Compare(b.first) })
	return r, nil
}

// Next returns the next record, which is valid until the next call. The error is io.EOF
// after the last one, and never anything else.
func (r *Reader) Next() (*Record, error) {
	for {
		if r.given {
			r.given = false
			last := r.open[0]
			r.open = slices.Delete(r.open, 0, 1)
			r.advance(last)
		}
		r.openDue()
		if len(r.open) == 0 {
			return nil, io.EOF
		}
		r.given = true
		record := &r.open[0].record
		if record.Time.Before(r.since) || !r.until.IsZero() && !record.Time.Before(r.until) {
			continue
		}
		return record, nil
	}
}

// advance moves a source that is not in r.open to its next record, and puts it into
// r.open where that record's time says; or ends it.
func (r *Reader) advance(s *source) {
	if err := s.advance(&r.tally); err != nil {
		r.end(s, err)
		return
	}
	i, _ := slices.BinarySearchFunc(r.open, s, (*source).compare)
	r.open = slices.Insert(r.open, i, s)
}

// openDue opens the sources that may have something before the record that is next.
func (r *Reader) openDue() {
	for len(r.waiting) > 0 && (len(r.open) == 0 || !r.waiting[0].first.After(r.open[0].record.Time)) {
		s := r.waiting[0]
		r.waiting = r.waiting[1:]
		if err := s.open(&r.done); err != nil {
			r.failures = append(r.failures, err)
			continue
		}
		r.advance(s)
	}
}

func (r *Reader) end(s *source, err error) {
	s.close()
	if err != io.EOF {
		r.failures = append(r.failures, err)
	}
}

// Progress returns how many bytes were read, as they are on disk, and how many there
// were when the files were opened; 0 if that is not known, as of a pipe.
func (r *Reader) Progress() (done, total int64) {
	if r.total > 0 {
		return min(r.done, r.total), r.total
	}
	return r.done, 0
}

// Unreadable returns how many lines could not be read so far, and the first few.
func (r *Reader) Unreadable() (n int64, first []Problem) {
	return r.tally.unreadable, r.tally.problems
}

// Skipped returns how many lines were read so far that are not about a request.
func (r *Reader) Skipped() int64 { return r.tally.skipped }

// Err returns what kept files from being read, or from being read to their end, so far:
// an error that joins one of each such file (errors.Join), and nil if there is none.
func (r *Reader) Err() error { return errors.Join(r.failures...) }

// Close closes what is open. A Reader that was read to the end has nothing open.
func (r *Reader) Close() {
	for _, s := range r.open {
		s.close()
	}
	r.open, r.waiting, r.given = nil, nil, false
}
