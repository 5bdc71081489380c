package compliance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// What is stored begins with a line that says what it is. Behind it are the number of rows,
// the rows, and a CRC-32C of all that.
const (
	storedTitle   = "caddy-robots ledger "
	storedVersion = "1"
	storedHead    = storedTitle + storedVersion + "\n"
	maxStoredRows = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Marshal returns all that the ledger holds, for storage or to be sent to another
// Caddy. What is noted meanwhile may or may not be in it.
func (l *Ledger) Marshal() []byte {
	var rows uint64
	var body []byte
	l.each(func(r *row) {
		rows++
		body = r.append(body)
	})
	data := binary.AppendUvarint([]byte(storedHead), rows)
	return seal(append(data, body...))
}

// Unmarshal adds what Marshal returned to what the ledger holds: all that was stored, if it
// is empty. Where it has less room than the ledger that was stored, the lightest give
// way. Data that is cut short, damaged or something else is an error, and the ledger
// stays as it was.
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
	rest, err := unseal(data)
	if err != nil {
		return err
	}
	d := decoder{data: rest}
	rows := d.number(maxStoredRows, "number of robots")
	for range rows {
		r := d.row()
		if d.err != nil {
			return d.err
		}
		l.absorb(r)
	}
	if d.err == nil && len(d.data) > 0 {
		d.err = fmt.Errorf("%d octets behind the last robot", len(d.data))
	}
	return d.err
}

// seal appends the checksum.
func seal(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// unseal returns what is between the head and the checksum, if both are right.
func unseal(data []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(data, []byte(storedTitle))
	if !ok {
		return nil, errors.New("it does not begin as one")
	}
	version, _, ok := bytes.Cut(rest[:min(len(rest), 16)], []byte("\n"))
	if !ok {
		return nil, errors.New("it is cut short")
	}
	if string(version) != storedVersion {
		return nil, fmt.Errorf("its format is version %q, and only %q is known here", version, storedVersion)
	}
	end := len(data) - crc32.Size
	if end < len(storedHead) {
		return nil, errors.New("it is cut short")
	}
	if got, want := crc32.Checksum(data[:end], castagnoli), binary.LittleEndian.Uint32(data[end:]); got != want {
		return nil, fmt.Errorf("it is damaged or cut short: its checksum is %08x and should be %08x", got, want)
	}
	return data[len(storedHead):end], nil
}
