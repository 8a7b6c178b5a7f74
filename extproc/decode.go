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
	errNoRoom   = errors.New("no more may be held")
	errTrailing = errors.New("something follows the encoded body")
)

// decodes says that a content encoding is known.
func decodes(encoding string) bool {
	switch encoding {
	case "", "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}

// maxWindow bounds zstd's window, which is memory of ours besides the body: what
// RFC 8878 (3.1.1.1.2) asks every decoder to take. Encoders that don't know how long
// a body is going to be ask for some megabytes however short it is.
const maxWindow = 8 << 20

// newDecoder decodes a stream.
func newDecoder(encoding string, r io.Reader) (io.Reader, func(), error) {
	done := func() {}
	switch encoding {
	case "gzip", "x-gzip":
		d, err := gzip.NewReader(r)
		return d, done, err
	case "deflate":
		d, err := newDeflate(r)
		return d, done, err
	case "br":
		return brotli.NewReader(r), done, nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, done, err
		}
		return d, d.Close, nil
	}
	return nil, done, errEncoding
}

// deflate is a decoder that refuses what follows the end of its stream, as the
// others do: who drops it changes what was sent.
type deflate struct {
	io.Reader
	src *bufio.Reader
}

// Read implements io.Reader.
func (d deflate) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		if _, more := d.src.Peek(1); more == nil {
			return n, errTrailing
		}
	}
	return n, err
}

// newDeflate takes both things that are called deflate: with zlib's header, as
// it is specified, and without, as some clients send it.
func newDeflate(r io.Reader) (io.Reader, error) {
	src := bufio.NewReader(r)
	head, err := src.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		d, err := zlib.NewReader(src)
		return deflate{d, src}, err
	}
	return deflate{flate.NewReader(src), src}, nil
}

// firstRoom is the least that is made room for at once.
const firstRoom = 32 << 10

// decodeBody decodes a whole body of at most limit bytes. What is over the limit
// is an error; it is never cut. room is asked before memory for so many bytes in
// all is taken, and may refuse: how large a body becomes is known only at its end.
func decodeBody(encoding string, body []byte, limit int64, room func(int64) bool) ([]byte, error) {
	d, done, err := newDecoder(encoding, bytes.NewReader(body))
	defer done()
	if err != nil {
		return nil, err
	}
	var out []byte
	for {
		if len(out) == cap(out) {
			// One byte over the limit tells that it is passed.
			size := min(max(2*int64(cap(out)), 4*int64(len(body)), firstRoom), limit+1)
			if size <= int64(len(out)) {
				return nil, errTooLarge
			}
			if !room(size) {
				return nil, errNoRoom
			}
			out = append(make([]byte, 0, size), out...)
		}
		n, err := d.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case int64(len(out)) > limit:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
	}
}
