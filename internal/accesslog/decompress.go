package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the most memory that a zstd file may ask for: the default of the zstd command.
const maxWindow = 128 << 20

// How compressed files begin.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

	foreignMagic = map[string]string{
		"BZh91AY&":   "bzip2",
		"\xfd7zXZ":   "xz",
		"PK\x03\x04": "zip",
	}
)

// decompress returns the content of what is compressed with gzip or zstd, and anything
// else as it is. The closer frees the decompressor's memory.
func decompress(from io.Reader) (io.Reader, func(), error) {
	var head [8]byte
	n, err := io.ReadFull(from, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil, err
	}
	for magic, name := range foreignMagic {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return nil, nil, fmt.Errorf("compressed with %s: decompress it first, or recompress it with gzip or zstd", name)
		}
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), from)
	switch {
	case bytes.HasPrefix(head[:n], gzipMagic):
		z, err := gzip.NewReader(bufio.NewReaderSize(whole, chunkSize))
		if err != nil {
			return nil, nil, err
		}
		return z, func() { z.Close() }, nil
	case bytes.HasPrefix(head[:n], zstdMagic):
		z, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return whole, func() {}, nil
}

// explain says what an error in the midst of a file means.
func explain(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("ends too early, as a copy that was cut or a file that is still written to: what comes before is read")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("needs more than %d MiB to decompress: recompress it without --long or --ultra", maxWindow>>20)
	}
	return err
}
