package main

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/up"
)

type envoyCommand struct {
	Config   envoyConfigCommand   `cmd:"" help:"Print a complete Envoy configuration with the trimtab filter."`
	Filter   envoyFilterCommand   `cmd:"" help:"Print the trimtab filter alone, for a configuration of yours."`
	Validate envoyValidateCommand `cmd:"" help:"Let Envoy check configuration files."`
}

type envoyConfigCommand struct {
	Listen    string `help:"Where agents connect." default:"0.0.0.0:10000" placeholder:"HOST:PORT"`
	GRPC      string `name:"grpc" help:"Where the server is." default:"unix:/run/trimtab/extproc.sock" placeholder:"ADDR"`
	Admin     string `help:"Envoy's admin address." default:"127.0.0.1:9901" placeholder:"HOST:PORT"`
	Profile   string `help:"Profile of the requests; otherwise the server's default profile." placeholder:"NAME"`
	Anthropic string `help:"URL of the provider anthropic." default:"${anthropic}" placeholder:"URL"`
	OpenAI    string `name:"openai" help:"URL of the provider openai." default:"${openai}" placeholder:"URL"`
	CA        string `name:"ca" help:"Certificates that https providers are checked against." default:"${cafile}" placeholder:"FILE"`
	AccessLog string `help:"Where Envoy writes one JSON line per request." default:"/dev/stdout" placeholder:"FILE"`
	MaxBody   int64  `help:"The largest max_body_bytes of the server's profiles." default:"33554432" placeholder:"BYTES"`
}

// Run prints the configuration.
func (c *envoyConfigCommand) Run(a *app) error {
	anthropic, err := envoy.ParseUpstream("anthropic", c.Anthropic, c.CA)
	if err != nil {
		return usageError{err}
	}
	openai, err := envoy.ParseUpstream("openai", c.OpenAI, c.CA)
	if err != nil {
		return usageError{err}
	}
	b, err := envoy.Bootstrap(envoy.Options{
		Listen: c.Listen, Admin: c.Admin, ExtProc: c.GRPC, Anthropic: anthropic, OpenAI: openai,
		Profile: c.Profile, MaxBodyBytes: c.MaxBody, AccessLog: c.AccessLog,
	})
	if err != nil {
		return usageError{err}
	}
	return printYAML(a, b)
}

type envoyFilterCommand struct{}

// Run prints the filter.
func (envoyFilterCommand) Run(a *app) error {
	return printYAML(a, envoy.Filter(envoy.MessageTimeout))
}

func printYAML(a *app, m proto.Message) error {
	text, err := envoy.YAML(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "# Printed by trimtab envoy; see docs/envoy.md.\n%s", text)
	return err
}

type envoyValidateCommand struct {
	Files []string `arg:"" help:"Configuration files." type:"existingfile"`
	Envoy string   `help:"Envoy binary; otherwise ENVOY, one that make setup installed, or one on PATH." placeholder:"PATH" type:"path"`
}

// Run validates the files.
func (c *envoyValidateCommand) Run(a *app) error {
	binary, version, err := envoy.Find(a.ctx, c.Envoy, ".")
	if err != nil {
		return err
	}
	for _, file := range c.Files {
		if err := envoy.Validate(a.ctx, binary, file); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s: Envoy %s accepts it\n", file, version)
	}
	return nil
}

// envoyDefaults are what the command's help shows.
func envoyDefaults() map[string]string {
	return map[string]string{"anthropic": up.AnthropicURL, "openai": up.OpenAIURL, "cafile": envoy.SystemCAFile}
}
