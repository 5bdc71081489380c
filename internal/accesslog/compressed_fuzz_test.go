package accesslog_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// FuzzCompressed reads logs that were compressed with gzip or zstd. It holds three properties:
//
//   - as it was: a compressed log reads as the log itself;
//   - cut short: of a copy that was cut nothing is read but the first records of the log, and it is told;
//   - spoiled: octets that were changed are told of, unless they change nothing.
func FuzzCompressed(f *testing.F) {
	for i, c := range loadCases(f) {
		f.Add(c.log, i%2 == 0, uint16(i*37), []byte{byte(i)}, uint16(i))
	}
	f.Add("", true, uint16(0), []byte("\x1f\x8b\x08\x00"), uint16(0))
	f.Add("x\n", false, uint16(9), []byte("\x28\xb5\x2f\xfd\x24\xff\xff\xff\xff"), uint16(0))
	f.Add("x\n", false, uint16(9), []byte("BZh91AY&"), uint16(0))
	f.Fuzz(func(t *testing.T, log string, zip bool, cut uint16, spoilt []byte, at uint16) {
		if len(log) > 4<<10 || len(spoilt) > 64 {
			t.Skip() // a few octets may stand for a great many
		}
		log = oneLine("\n") + log // not taken for a compressed file itself
		packed, magic := compressed(log, zip)
		whole := readText(t, strings.NewReader(log), nil)
		if got := readText(t, bytes.NewReader(packed), nil); !reflect.DeepEqual(got, whole) {
			t.Errorf("as it was: %q compressed: got %+v, want %+v", log, got, whole)
		}
		if short := packed[:int(cut)%len(packed)]; bytes.HasPrefix(short, magic) {
			got := readText(t, bytes.NewReader(short), nil)
			if n := len(got.records); n > len(whole.records) || !slices.Equal(got.records, whole.records[:n]) {
				t.Errorf("cut short: %q: got %q, want the first of %q", log, got.records, whole.records)
			}
			if got.err == nil {
				t.Errorf("cut short: %q at %d of %d octets: got no error", log, len(short), len(packed))
			}
		}
		copy(packed[int(at)%len(packed):], spoilt)
		if got := readText(t, bytes.NewReader(packed), nil); bytes.HasPrefix(packed, magic) && got.err == nil && !reflect.DeepEqual(got, whole) {
			t.Errorf("spoiled: %q: got %+v, want an error or %+v", packed, got, whole)
		}
	})
}

// zstdWriter is made once: to make one takes longer than to use it.
var zstdWriter, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))

// compressed returns a log compressed with gzip or zstd, and how such files begin.
func compressed(log string, zip bool) (packed, magic []byte) {
	if !zip {
		return zstdWriter.EncodeAll([]byte(log), nil), []byte("\x28\xb5\x2f\xfd")
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = w.Write([]byte(log))
	_ = w.Close()
	return b.Bytes(), []byte("\x1f\x8b")
}
