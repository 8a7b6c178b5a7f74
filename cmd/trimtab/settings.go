package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/heap"
)

// settings are the flags that stand over a configuration file.
type settings struct {
	Config        string `help:"Configuration file." placeholder:"FILE" type:"path" env:"TRIMTAB_CONFIG"`
	Preset        string `help:"Preset of every profile: off, cache, safe, conservative, balanced, coding, mcp or house." placeholder:"NAME"`
	Level         string `help:"What may be kept after a request: off, metadata or everything." placeholder:"LEVEL"`
	CacheStrategy string `help:"How the provider's prompt cache is kept warm: none." placeholder:"NAME"`
}

// options are where a configuration comes from with these flags.
func (s settings) options(a *app, more ...config.Override) config.Options {
	o := config.Options{File: s.Config, Environ: a.env}
	for _, f := range append([]config.Override{
		{Flag: "--preset", Setting: "profiles.*.preset", Value: s.Preset},
		{Flag: "--level", Setting: "profiles.*.storage.level", Value: s.Level},
		{Flag: "--cache-strategy", Setting: "profiles.*.cache.strategy", Value: s.CacheStrategy},
	}, more...) {
		if f.Value != "" {
			o.Flags = append(o.Flags, f)
		}
	}
	return o
}

// logger writes to w as the configuration says.
func logger(w io.Writer, e *config.Effective) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(e.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if e.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// tune sets what suits a server, unless the environment says otherwise. A log
// that nobody reads any more, or that has no room, costs the line and not the
// process.
func tune(ctx context.Context) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ)
	if os.Getenv("GOGC") == "" {
		go heap.Run(ctx)
	}
}
