package compliance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"

	"github.com/fxamacker/cbor/v2"
)

// What is stored begins with a line that names the format and its version. A CBOR sequence (RFC 8742)
// follows, each item of which is a storedRow and, behind it, its storedAsked, and then a CRC-32C of all that.
const (
	storedTitle   = "caddy-robots ledger "
	storedVersion = "4" // 1, until November 2026, was not CBOR; 2 knew nothing of costs; 3 has no storedAsked
	storedHead    = storedTitle + storedVersion + "\n"
	maxStoredRows = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// storedRow is a row as it is stored.
type storedRow struct {
	_                     struct{} `cbor:",toarray"`
	Site, Robot           string
	Class                 class
	Standing              standing
	First, Last, Fetched  uint64 // milliseconds since 1970
	Fetches               uint64
	Version, Record, Read string // Read is the version that was fetched last
	Tallies               []tally
	Cost                  cost
	Hours                 []period
	Days                  []day
	Lines, Paths          []storedCount
	Evidence              []storedEvidence // the first, and then the latest, the newest first
}

// storedAsked is what a robot was allowed to ask for, as it is stored.
type storedAsked struct {
	_            struct{} `cbor:",toarray"`
	Lines, Paths []storedCount
}

// storedCount is a head as it is stored.
type storedCount struct {
	_           struct{} `cbor:",toarray"`
	Line        int32    // of a path: the one that decided about it last
	Text        string
	Count, Over uint64
}

// storedEvidence is an evidence as it is stored.
type storedEvidence struct {
	_                  struct{} `cbor:",toarray"`
	Time               uint64   // milliseconds since 1970
	Verdict            Verdict
	Status             uint16
	Line               int32
	Method, Path, Rule string
	Address            netip.Prefix
}

// Texts may be no UTF-8: they are stored as byte strings.
var (
	storedEncoding = must(cbor.EncOptions{String: cbor.StringToByteString}.UserBufferEncMode())
	storedDecoding = must(cbor.DecOptions{
		ByteStringToString: cbor.ByteStringToStringAllowed,
		MaxNestedLevels:    4, // the least that can be set; a row has three
		MaxArrayElements:   keptHours,
		MaxMapPairs:        16, // the least that can be set; a row has no maps
		IndefLength:        cbor.IndefLengthForbidden,
		TagsMd:             cbor.TagsForbidden,
	}.DecMode())
)

// must returns a mode of CBOR, whose options are constants.
func must[T any](mode T, err error) T {
	if err != nil {
		panic(err)
	}
	return mode
}

// Marshal returns all that the ledger holds, for storage or to be sent to another
// Caddy. What is noted meanwhile may or may not be in it.
func (l *Ledger) Marshal() []byte {
	b := bytes.NewBufferString(storedHead)
	l.each(func(r *row) {
		for _, item := range storedItems(r) {
			if err := storedEncoding.MarshalToBuffer(item, b); err != nil {
				panic(err) // none of its types can fail
			}
		}
	})
	return seal(b.Bytes())
}

// Unmarshal adds what Marshal returned to what the ledger holds: all that was stored, if it
// is empty. Where it has less room than the ledger that was stored, the lightest give
// way. Data that is cut short, damaged, written by another version or something else is an error, and
// the ledger stays as it was.
func (l *Ledger) Unmarshal(data []byte) error {
	stored := NewLedger(l.options)
	if err := stored.read(data); err != nil {
		return fmt.Errorf("reading a stored ledger: %w", err)
	}
	l.Merge(stored)
	return nil
}

// read adds what is stored. It stops at the first error.
func (l *Ledger) read(data []byte) error {
	rest, version, err := unseal(data)
	if err != nil {
		return err
	}
	for n := 1; len(rest) > 0; n++ {
		if n > maxStoredRows {
			return fmt.Errorf("it holds more than %d robots", maxStoredRows)
		}
		var r *row
		if r, rest, err = readRow(rest, version); err != nil {
			return fmt.Errorf("its robot %d cannot be read: %w", n, err)
		}
		l.absorb(r)
	}
	return nil
}

// readRow returns the row that data begins with, in a version of the format, and what is behind it.
func readRow(data []byte, version string) (r *row, rest []byte, err error) {
	if version == oldestVersion {
		return readOldest(data)
	}
	var s storedRow
	if rest, err = storedDecoding.UnmarshalFirst(data, &s); err != nil {
		return nil, nil, err
	}
	r = s.row()
	items := 1
	if version != previousVersion {
		var a storedAsked
		if rest, err = storedDecoding.UnmarshalFirst(rest, &a); err != nil {
			return nil, nil, err
		}
		r.allowed = newAsked(a.Lines, a.Paths)
		items = 2
	}
	// What is out of bounds, or not as Marshal writes it, becomes something else when it is stored again.
	var again bytes.Buffer
	for _, item := range storedItems(r)[:items] {
		err = errors.Join(err, storedEncoding.MarshalToBuffer(item, &again))
	}
	if err != nil || !bytes.Equal(again.Bytes(), data[:len(data)-len(rest)]) {
		return nil, nil, errNotStored
	}
	return r, rest, nil
}

var errNotStored = errors.New("it holds what no ledger stores")

// seal appends the checksum.
func seal(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// unseal returns what is between the head and the checksum, if both are right, and the version that the
// head names.
func unseal(data []byte) (rows []byte, version string, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(storedTitle))
	if !ok {
		return nil, "", errors.New("it does not begin as one")
	}
	name, _, ok := bytes.Cut(rest[:min(len(rest), 16)], []byte("\n"))
	if !ok {
		return nil, "", errors.New("it is cut short")
	}
	switch version = string(name); version {
	case storedVersion, previousVersion, oldestVersion:
	case "1":
		return nil, "", fmt.Errorf("it was written by an earlier version, in format 1; this one reads formats %s to %s", oldestVersion, storedVersion)
	default:
		return nil, "", fmt.Errorf("its format is version %q, and only %q to %q are known here", version, oldestVersion, storedVersion)
	}
	end := len(data) - crc32.Size
	if end < len(storedHead) {
		return nil, "", errors.New("it is cut short")
	}
	if got, want := crc32.Checksum(data[:end], castagnoli), binary.LittleEndian.Uint32(data[end:]); got != want {
		return nil, "", fmt.Errorf("it is damaged or cut short: its checksum is %08x and should be %08x", got, want)
	}
	return data[len(storedHead):end], version, nil
}

// storedItems returns a row as the items that are stored of it. Callers hold mu.
func storedItems(r *row) []any {
	return []any{newStoredRow(r), &storedAsked{Lines: r.allowed.lines.stored(), Paths: r.allowed.paths.stored()}}
}

// newAsked returns lines and paths that were stored, within bounds.
func newAsked(lines, paths []storedCount) asked {
	return asked{lines: newFrequent(lines, mostLines, maxRule), paths: newFrequent(paths, mostPaths, maxPath)}
}

// newStoredRow returns a row as it is stored. It shares the row's tallies. Callers hold mu.
func newStoredRow(r *row) *storedRow {
	s := &storedRow{
		Site: r.key.site, Robot: r.key.robot, Class: r.key.class, Standing: r.key.standing,
		First: uint64(r.first), Last: uint64(r.last), Fetched: uint64(r.fetched), Fetches: r.fetches,
		Version: r.version, Record: r.record, Read: r.fetchedVersion,
		Tallies: r.tallies[:], Cost: r.cost, Hours: append([]period{}, r.hours...), Days: append([]day{}, r.days...),
	}
	if o := r.offences; o != nil {
		s.Lines, s.Paths = o.lines.stored(), o.paths.stored()
		all := append([]*evidence{&o.first}, o.latest()...)
		s.Evidence = make([]storedEvidence, len(all))
		for i, e := range all {
			method, path, rule := e.texts()
			s.Evidence[i] = storedEvidence{
				Time: uint64(e.at), Verdict: e.verdict, Status: e.status, Line: e.line,
				Method: method, Path: path, Rule: rule, Address: e.address,
			}
		}
	}
	return s
}

// row returns a row within the bounds of a ledger, whatever is stored.
func (s *storedRow) row() *row {
	k := key{site: cut(s.Site, maxSite), class: min(s.Class, class(len(classWords)-1))}
	if k.class != others {
		k.robot, k.standing = cut(s.Robot, maxRobot), min(s.Standing, standing(len(standingWords)-1))
	}
	r := newRow(k)
	r.first, r.last, r.fetched = storedMoment(s.First), storedMoment(s.Last), storedMoment(s.Fetched)
	r.fetches = min(s.Fetches, maxCount)
	r.version, r.record, r.fetchedVersion = cut(s.Version, maxShort), cut(s.Record, maxShort), cut(s.Read, maxShort)
	for v, t := range s.Tallies[:min(len(s.Tallies), verdicts)] {
		r.tallies[v].Requests = min(t.Requests, maxCount)
		if Verdict(v).refusable() {
			r.tallies[v].Refused = min(t.Refused, t.Requests, maxCount)
		}
	}
	for _, p := range s.Hours {
		p.Disobedient = min(p.Disobedient, p.Requests)
		r.hours = withStored(r.hours, p, lastMoment/hourLong, keptHours)
	}
	r.cost = s.Cost.within()
	for _, d := range s.Days {
		d.Bytes, d.Micros = min(d.Bytes, maxCount), min(d.Micros, maxCount)
		r.days = withStored(r.days, d, lastMoment/dayLong, keptDays)
	}
	if len(s.Evidence) == 0 {
		return r
	}
	r.offences = &offences{asked: newAsked(s.Lines, s.Paths)}
	all := make([]*evidence, len(s.Evidence))
	for i, e := range s.Evidence {
		all[i] = &evidence{at: storedMoment(e.Time), line: min(max(e.Line, 0), maxLine), status: min(e.Status, 999), verdict: e.Verdict.known()}
		all[i].write(cut(e.Method, maxMethod), cut(e.Path, maxPath), cut(e.Rule, maxRule))
		if !e.Address.Addr().Is4In6() {
			all[i].address = e.Address.Masked()
		}
	}
	r.offences.first = *all[0]
	r.offences.keep(all[1:])
	return r
}

func storedMoment(at uint64) int64 { return int64(min(at, lastMoment)) }
