package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/trimtab-io/trimtab/internal/figures"
	"github.com/trimtab-io/trimtab/internal/heap"
)

// options say what to measure and for how long.
type options struct {
	Trimtab string // the binary
	Root    string // the checkout, in which an Envoy is installed
	Page    string // the page whose block is rewritten; empty: none

	Largest       int           // request, in bytes
	PerSize       time.Duration // for each size of a request
	Streams       time.Duration // for streamed answers
	Engine        time.Duration // for the engine and for the components, each
	Conversations int           // that memory is measured with
	Memory        time.Duration // the longest that they may take
}

// target is the make target that runs this, and the name of its block in the page.
const target = "bench"

func main() {
	var o options
	flag.StringVar(&o.Trimtab, "trimtab", "bin/trimtab", "the trimtab binary")
	flag.StringVar(&o.Root, "root", ".", "the checkout")
	flag.StringVar(&o.Page, "page", "docs/performance.md", "the page whose block of figures is rewritten; empty: none")
	flag.IntVar(&o.Largest, "largest", 10_000_000, "the largest request that is measured, in bytes")
	flag.DurationVar(&o.PerSize, "per-size", 25*time.Second, "how long each size of a request is measured; 0: this part is left out")
	flag.DurationVar(&o.Streams, "streams", 45*time.Second, "how long streamed answers are measured; 0: this part is left out")
	flag.DurationVar(&o.Engine, "engine", 20*time.Second, "how long the engine, and then the components, are measured; 0: these parts are left out")
	flag.IntVar(&o.Conversations, "conversations", 10_000, "how many conversations memory is measured with; 0: this part is left out")
	flag.DurationVar(&o.Memory, "memory", 3*time.Minute, "the longest that these may take")
	nothing := flag.String("nothing", "", "serve a server that does nothing on this socket, for the comparison")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go heap.Run(ctx) // as the product does
	var err error
	if *nothing != "" {
		err = serveNothing(ctx, *nothing)
	} else {
		err = run(ctx, o, os.Stdout)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures all parts, prints the report and puts it in place.
func run(ctx context.Context, o options, out io.Writer) error {
	r := &report{began: time.Now()}
	for _, part := range []struct {
		name   string
		wanted bool
		do     func(context.Context, options) error
	}{
		// Without other processes first: those parts count the CPU time of this one.
		{"engine", o.Engine > 0, r.measureEngine},
		{"components", o.Engine > 0, r.measureComponents},
		{"requests", o.PerSize > 0, r.measureRequests},
		{"streams", o.Streams > 0, r.measureStreams},
		{"memory", o.Conversations > 0, r.measureMemory},
	} {
		if !part.wanted {
			continue
		}
		began := time.Now()
		if err := part.do(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "bench: %s: %s\n", part.name, time.Since(began).Round(time.Second))
	}
	text := r.text()
	fmt.Fprint(out, text)
	if o.Page == "" {
		return nil
	}
	return figures.Replace(o.Page, target, text)
}
