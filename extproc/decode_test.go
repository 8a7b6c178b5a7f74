package extproc

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// encodings are the ways to write a body, more than one for each name.
var encodings = []struct {
	name, encoding string
	writer         func(io.Writer) (io.WriteCloser, error)
}{
	{"gzip", "gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"gzip by its old name", "x-gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.HuffmanOnly) }},
	{"deflate with a header", "deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	{"deflate without a header", "deflate", func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 9) }},
	{"br", "br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }},
	{"br, stored", "br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 0), nil }},
	{"zstd", "zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }},
	{"zstd of the widest window", "zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithWindowSize(maxWindow), zstd.WithEncoderConcurrency(1))
	}},
	{"zstd without a checksum", "zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	}},
}

func written(t testing.TB, writer func(io.Writer) (io.WriteCloser, error), text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := writer(&b)
	if err != nil {
		t.Fatal(err)
	}
	// Two writes, so that a writer can't know the length.
	for _, part := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func anyRoom(int64) bool { return true }

// TestDecodeBody: whatever was encoded is decoded to the same bytes, if it is
// within the limit, and the room that was asked for holds it.
func TestDecodeBody(t *testing.T) {
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				word := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(rt, "word")
				text := bytes.Repeat(word, rapid.IntRange(1, 1500).Draw(rt, "times"))
				wire := written(t, e.writer, text)
				limit := int64(len(text) + rapid.IntRange(-2, 2).Draw(rt, "spare"))
				asked := int64(0)
				got, err := decodeBody(e.encoding, wire, limit, func(n int64) bool { asked = max(asked, n); return true })
				if limit < int64(len(text)) {
					if !errors.Is(err, errTooLarge) || asked > limit+1 {
						rt.Fatalf("%d bytes at a limit of %d: %v, asked for %d", len(got), limit, err, asked)
					}
					return
				}
				if err != nil || !bytes.Equal(got, text) || asked < int64(len(text)) || asked > limit+1 {
					rt.Fatalf("%d bytes of %d, %v, asked for %d", len(got), len(text), err, asked)
				}
			})
		})
	}
}

// TestDecodeCutOrChanged: of a body that was cut anywhere nothing is taken, and of
// one that something follows neither.
func TestDecodeCutOrChanged(t *testing.T) {
	text := make([]byte, 3000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte(r.IntN(40) + ' ')
	}
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			wire := written(t, e.writer, text)
			for n := range wire {
				if n == 0 && e.encoding == "zstd" {
					continue // no frame at all is an empty body
				}
				if got, err := decodeBody(e.encoding, wire[:n], 1<<20, anyRoom); err == nil {
					t.Fatalf("cut at %d of %d: %d bytes", n, len(wire), len(got))
				}
			}
			if got, err := decodeBody(e.encoding, append(bytes.Clone(wire), "and more"...), 1<<20, anyRoom); err == nil {
				t.Errorf("with more behind it: %d bytes", len(got))
			}
		})
	}
	for _, encoding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd", "lzma", "gzip, gzip"} {
		for _, other := range encodings {
			wire := written(t, other.writer, text)
			if other.encoding == encoding || strings.HasSuffix(encoding, other.encoding) || strings.HasSuffix(other.encoding, encoding) {
				continue
			}
			if _, err := decodeBody(encoding, wire, 1<<20, anyRoom); err == nil {
				t.Errorf("%s is taken for %s", other.name, encoding)
			}
		}
		if _, err := decodeBody(encoding, []byte(`{"model":"m","messages":[]}`), 1<<20, anyRoom); err == nil {
			t.Errorf("plain JSON is taken for %s", encoding)
		}
	}
}

// zstdBomb is a frame of n blocks that each say "this byte, 128 KiB of them":
// four bytes. declared, if not 0, is the length that its header tells.
func zstdBomb(n int, declared uint64) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if declared > 0 {
		b = binary.LittleEndian.AppendUint64(append(b, 3<<6, 13<<3), declared)
	} else {
		b = append(b, 0, 13<<3) // a window of 8 MiB
	}
	for i := range n {
		head := uint32(128<<10)<<3 | 1<<1
		if i == n-1 {
			head |= 1
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16), ' ')
	}
	return b
}

// TestBombs: what grows too much costs what it may grow to and no more, whatever it
// says of itself.
func TestBombs(t *testing.T) {
	spaces := bytes.Repeat([]byte(" "), 8<<20)
	bombs := map[string]struct {
		encoding string
		wire     []byte
	}{
		"zstd, 64 KB to 2 GiB":       {"zstd", zstdBomb(16384, 0)},
		"zstd, 1 KB that says 2 GiB": {"zstd", zstdBomb(250, 2<<30)},
		"zstd, 1 KB to 32 MB":        {"zstd", zstdBomb(250, 0)},
	}
	for _, e := range encodings[:7] {
		bombs[e.name+" of 8 MiB"] = struct {
			encoding string
			wire     []byte
		}{e.encoding, written(t, e.writer, spaces)}
	}
	if got, err := decodeBody("zstd", zstdBomb(8, 0), 1<<20, anyRoom); err != nil || len(got) != 1<<20 {
		t.Fatalf("the bomb is no good frame: %d bytes, %v", len(got), err)
	}
	for name, b := range bombs {
		t.Run(name, func(t *testing.T) {
			const limit = 1 << 20
			most := int64(0)
			got, err := decodeBody(b.encoding, b.wire, limit, func(n int64) bool { most = max(most, n); return true })
			if err == nil || got != nil || most > limit+1 {
				t.Errorf("%d bytes, %v, asked for %d", len(got), err, most)
			}
		})
	}
}

func TestDecodingAsksForRoom(t *testing.T) {
	wire := written(t, encodings[0].writer, bytes.Repeat([]byte("0123456789abcdef"), 64<<10))
	var asked []int64
	_, err := decodeBody("gzip", wire, 32<<20, func(n int64) bool { asked = append(asked, n); return n < 200<<10 })
	if !errors.Is(err, errNoRoom) || len(asked) < 2 {
		t.Errorf("%v after %v", err, asked)
	}
}

// judge decodes what the standard library can, sharing no code with the product.
func judge(encoding string, wire []byte, limit int64) ([]byte, bool) {
	src := bytes.NewReader(wire)
	var d io.Reader
	var err error
	switch {
	case encoding == "gzip":
		d, err = gzip.NewReader(src)
	case len(wire) >= 2 && wire[0]&0x0f == 8 && binary.BigEndian.Uint16(wire)%31 == 0:
		d, err = zlib.NewReader(src)
	default:
		d = flate.NewReader(src)
	}
	if err != nil {
		return nil, false
	}
	out, err := io.ReadAll(io.LimitReader(d, limit+1))
	if err != nil || int64(len(out)) > limit {
		return nil, false
	}
	// Over the limit's reader the end may not have been asked for.
	if _, err := d.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return out, src.Len() == 0
}

// FuzzDecode: any bytes are decoded or refused. gzip and deflate agree with the
// standard library, zstd with another way to decode it; all read what was written.
func FuzzDecode(f *testing.F) {
	for i, e := range encodings {
		f.Add(byte(i), written(f, e.writer, []byte(`{"model":"m","messages":[{"role":"user","content":"aaaaaaaaaaaaaaaa"}]}`)))
	}
	f.Add(byte(6), zstdBomb(250, 0))
	f.Add(byte(6), zstdBomb(2, 1<<40))
	f.Fuzz(func(t *testing.T, which byte, wire []byte) {
		const limit = 1 << 18
		e := encodings[int(which)%len(encodings)]
		got, err := decodeBody(e.encoding, wire, limit, anyRoom)
		if int64(len(got)) > limit {
			t.Fatalf("%d bytes", len(got))
		}
		switch e.encoding {
		case "gzip", "deflate":
			want, ok := judge(e.encoding, wire, limit)
			if len(wire) < 2 && e.encoding == "deflate" {
				break // too short to tell one deflate from the other; nothing is that short
			}
			if ok != (err == nil) || ok && !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes, %v; the standard library: %d bytes, %v", e.name, len(got), err, len(want), ok)
			}
		case "zstd":
			d, newErr := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(limit))
			if newErr != nil {
				t.Fatal(newErr)
			}
			defer d.Close()
			if want, whole := d.DecodeAll(wire, nil); err == nil && whole == nil && !bytes.Equal(got, want) {
				t.Fatalf("%d bytes in pieces, %d at once", len(got), len(want))
			}
		}
		if len(wire) > 1<<16 {
			return
		}
		if back, err := decodeBody(e.encoding, written(t, e.writer, wire), limit, anyRoom); err != nil || !bytes.Equal(back, wire) {
			t.Fatalf("%s: %d bytes of %d come back, %v", e.name, len(back), len(wire), err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(strings.Repeat(fmt.Sprintf("%6d\tfunc handle(ctx context.Context) error { return nil }\n", 12), 20000))
	for _, e := range encodings {
		wire := written(b, e.writer, text)
		b.Run(e.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decodeBody(e.encoding, wire, 32<<20, anyRoom); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
