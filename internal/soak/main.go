package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/trimtab-io/trimtab/internal/figures"
)

// options say what to run.
type options struct {
	Trimtab string // the binary
	Root    string // the checkout, in which an Envoy is installed
	Report  string // the file whose block is rewritten; empty: none
	Seed    uint64

	For     time.Duration // of the load with faults
	Workers int

	Streams       int
	First, Second time.Duration // when memory is read, after all streams are open
	Every         time.Duration // between the events of a stream
	Opening       time.Duration // within which all are opened
}

func main() {
	var o options
	flag.StringVar(&o.Trimtab, "trimtab", "bin/trimtab", "the trimtab binary")
	flag.StringVar(&o.Root, "root", ".", "the checkout")
	flag.StringVar(&o.Report, "report", "docs/reliability.md", "the file whose block of figures is rewritten")
	flag.Uint64Var(&o.Seed, "seed", 1, "what the order of requests and faults is drawn from")
	flag.DurationVar(&o.For, "for", 8*time.Minute+30*time.Second, "how long to inject faults; the streams take 90 seconds more")
	flag.IntVar(&o.Workers, "workers", 8, "how many agents there are")
	flag.IntVar(&o.Streams, "streams", 1000, "how many streams are held open; 0: this part is left out")
	flag.DurationVar(&o.First, "first", 10*time.Second, "when memory is read for the first time")
	flag.DurationVar(&o.Second, "second", time.Minute, "when memory is read for the second time")
	flag.DurationVar(&o.Every, "every", time.Second, "the time between the events of a stream")
	flag.DurationVar(&o.Opening, "opening", 20*time.Second, "within how long all streams are opened")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// target is the make target that runs this, and the name of its block in the report.
const target = "soak"

// maxGrowth is how much larger the process may be at the second reading.
const maxGrowth = 1.1

// run runs both parts, prints the report and puts it in place. What went wrong is an
// error, and in the report.
func run(ctx context.Context, o options, out io.Writer) error {
	r := &report{options: o, began: time.Now()}
	if err := r.part(ctx, "streams", o.Streams > 0, r.holdStreams); err != nil {
		return err
	}
	if err := r.part(ctx, "faults", o.For > 0, r.injectFaults); err != nil {
		return err
	}
	text := r.text()
	fmt.Fprint(out, text)
	var errs []error
	if o.Report != "" {
		errs = append(errs, figures.Replace(o.Report, target, text))
	}
	if n := r.harm.total(); n > 0 {
		errs = append(errs, fmt.Errorf("%d things went wrong: %v", n, r.harm.first()))
	}
	if g := r.streams.growth(); g > maxGrowth {
		errs = append(errs, fmt.Errorf("memory grew by a factor of %.2f while streams were open, allowed are %.2f", g, maxGrowth))
	}
	return errors.Join(errs...)
}

// part runs one part on a bed of its own.
func (r *report) part(ctx context.Context, name string, wanted bool, do func(context.Context, *bed) error) error {
	if !wanted {
		return nil
	}
	b, err := newBed(ctx, r.options)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.envoy = b.version
	err = do(ctx, b)
	if closeErr := b.close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
