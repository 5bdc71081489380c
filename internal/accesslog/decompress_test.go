package accesslog_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestWhatComesBeforeTheCutOfACompressedFileIsRead(t *testing.T) {
	text, n := logOf(caddyLine, 1<<20)
	for name, whole := range map[string][]byte{"cut.gz": gzipped(t, text), "cut.zst": zstdCompressed(t, text)} {
		t.Run(name, func(t *testing.T) {
			r := open(t, accesslog.Options{}, writeFile(t, name, whole[:len(whole)*2/3]))
			got := readAll(t, r)
			if len(got.records) < n/4 || len(got.records) >= n {
				t.Errorf("got %d records, want a good part of %d", len(got.records), n)
			}
			if got.n != 0 {
				t.Errorf("got unreadable lines %v, want the cut told once, as an error", got.problems)
			}
			checkErr(t, got.err, name+": after line ")
			checkErr(t, got.err, "ends too early")
		})
	}
}

func TestADamagedCompressedFileIsToldOnce(t *testing.T) {
	text, _ := logOf(caddyLine, 1<<20)
	for name, content := range map[string][]byte{"bad.gz": gzipped(t, text), "bad.zst": zstdCompressed(t, text)} {
		t.Run(name, func(t *testing.T) {
			copy(content[len(content)/2:], bytes.Repeat([]byte{0xff}, 200))
			r := open(t, accesslog.Options{}, writeFile(t, name, content), writeFile(t, "a.log", log("a", 1)))
			if got := targets(t, r); !strings.Contains(got, "a1") {
				t.Errorf("got %.80s, want a1 to be among them", got)
			}
			checkErr(t, r.Err(), name)
		})
	}
}

func TestAFileThatIsAllCutOffHasNoRecords(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "cut.gz", []byte{0x1f, 0x8b, 8}), writeFile(t, "a.log", log("a", 1)))
	checkTargets(t, r, "a1")
	checkErr(t, r.Err(), "cut.gz: ends too early")
}

func TestOtherCompressionsAreNamed(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "a.gz", []byte("\xfd7zXZ\x00...")), writeFile(t, "b.log", log("b", 1)))
	checkTargets(t, r, "b1")
	checkErr(t, r.Err(), "a.gz: compressed with xz: decompress it first")
}

func TestConcatenatedGzipFilesAreOneLog(t *testing.T) {
	both := append(gzipped(t, log("a", 1)), gzipped(t, log("b", 2))...)
	checkTargets(t, open(t, accesslog.Options{}, writeFile(t, "ab.gz", both)), "a1 b2")
}

func TestContentTellsTheCompressionAndNotTheName(t *testing.T) {
	r := open(t, accesslog.Options{}, writeFile(t, "a.log", gzipped(t, log("a", 1))), writeFile(t, "b.gz", log("b", 2)))
	checkTargets(t, r, "a1 b2")
	if r.Err() != nil {
		t.Errorf("Err() = %v, want nil", r.Err())
	}
}

func TestStandardInputMayBeCompressed(t *testing.T) {
	o := accesslog.Options{Stdin: bytes.NewReader(zstdCompressed(t, log("in", 1, 2)))}
	checkTargets(t, open(t, o, "-"), "in1 in2")
}

// FuzzCompressed reads logs that were compressed with gzip or zstd. It holds three properties:
//
//   - as it was: a compressed log reads as the log itself;
//   - cut short: of a copy that was cut nothing is read but the first records of the log, and it is told;
//   - spoiled: bytes that were changed are told of, unless they change nothing.
func FuzzCompressed(f *testing.F) {
	for i, c := range loadCases(f) {
		f.Add(c.log, i%2 == 0, uint16(i*37), []byte{byte(i)}, uint16(i))
	}
	f.Add("", true, uint16(0), []byte("\x1f\x8b\x08\x00"), uint16(0))
	f.Add("x\n", false, uint16(9), []byte("\x28\xb5\x2f\xfd\x24\xff\xff\xff\xff"), uint16(0))
	f.Add("x\n", false, uint16(9), []byte("BZh91AY&"), uint16(0))
	f.Fuzz(func(t *testing.T, log string, zip bool, cut uint16, spoilt []byte, at uint16) {
		if len(log) > 4<<10 || len(spoilt) > 64 {
			t.Skip() // a few bytes may stand for a great many
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
				t.Errorf("cut short: %q at %d of %d bytes: got no error", log, len(short), len(packed))
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
