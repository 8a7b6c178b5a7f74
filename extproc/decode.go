package extproc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

var (
	errEncoding = errors.New("content encoding is not known")
	errTooLarge = errors.New("decoded body is over the limit")
)

// decodes says that a content encoding is known.
func decodes(encoding string) bool {
	switch encoding {
	case "", "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}

// newDecoder decodes a stream. zstd's window is bounded by maxWindow.
func newDecoder(encoding string, r io.Reader, maxWindow uint64) (io.Reader, func(), error) {
	done := func() {}
	switch encoding {
	case "gzip", "x-gzip":
		d, err := gzip.NewReader(r)
		return d, done, err
	case "deflate":
		return newDeflate(r)
	case "br":
		return brotli.NewReader(r), done, nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, done, err
		}
		return d, d.Close, nil
	}
	return nil, done, errEncoding
}

// newDeflate takes both things that are called deflate: with zlib's header, as
// it is specified, and without, as some clients send it.
func newDeflate(r io.Reader) (io.Reader, func(), error) {
	br := bufio.NewReader(r)
	head, err := br.Peek(2)
	if err != nil {
		return nil, func() {}, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		d, err := zlib.NewReader(br)
		return d, func() {}, err
	}
	return flate.NewReader(br), func() {}, nil
}

// decodeBody decodes a whole body of at most limit bytes. What is over the limit
// is an error; it is never cut.
func decodeBody(encoding string, body []byte, limit int64) ([]byte, error) {
	d, done, err := newDecoder(encoding, bytes.NewReader(body), uint64(max(limit, 1<<20)))
	defer done()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(d, limit+1))
	switch {
	case err != nil:
		return nil, err
	case n > limit:
		return nil, errTooLarge
	}
	return out.Bytes(), nil
}
