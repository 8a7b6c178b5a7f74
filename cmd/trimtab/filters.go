package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/trimtab-io/trimtab/components/cmdfilter"
)

// filtersCommand is `trimtab filters`.
type filtersCommand struct {
	List    filtersList    `cmd:"" help:"List the filters for the output of commands, one a line."`
	Test    filtersTest    `cmd:"" help:"Run the filters over their fixtures."`
	Explain filtersExplain `cmd:"" help:"Show what the filters make of an output, and which stage cut which line."`
}

// filterFiles are filters of the caller's own.
type filterFiles struct {
	Filters []string `help:"Documents of filters to put before the built-in ones." type:"path" placeholder:"FILE"`
}

// set is the built-in filters behind those of the files.
func (f filterFiles) set() (*cmdfilter.Set, error) {
	built, err := cmdfilter.Builtin()
	if err != nil {
		return nil, err
	}
	var own []*cmdfilter.Filter
	var wrong []error
	for _, file := range f.Filters {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		filters, errs := cmdfilter.Load(file, data)
		own, wrong = append(own, filters...), append(wrong, errs...)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	if len(own) == 0 {
		return built, nil
	}
	return cmdfilter.NewSet(append(own, built.Filters()...)), nil
}

type filtersList struct{ filterFiles }

// Run prints name, commands and what is left out.
func (c *filtersList) Run(a *app) error {
	set, err := c.set()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, f := range set.Filters() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.ID, f.About, f.For())
	}
	return w.Flush()
}

type filtersTest struct {
	filterFiles
	Fixtures []string `arg:"" optional:"" name:"file" help:"Fixtures to run instead of the built-in ones, as txtar archives." type:"path"`
}

// Run runs the fixtures; the exit code is 1 if one of them fails.
func (c *filtersTest) Run(a *app) error {
	set, err := c.set()
	if err != nil {
		return err
	}
	names, archives := c.Fixtures, [][]byte(nil)
	if len(names) == 0 {
		if names, archives, err = cmdfilter.FixtureFiles(); err != nil {
			return err
		}
	}
	ran, failed := 0, 0
	for i, name := range names {
		if archives == nil || i >= len(archives) {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			archives = append(archives, data)
		}
		list, err := cmdfilter.ReadFixtures(archives[i])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range list {
			ran++
			wrong := set.CheckFixture(f)
			if len(wrong) > 0 {
				failed++
			}
			for _, text := range wrong {
				fmt.Fprintf(a.stdout, "%s: %s\n", name, text)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d fixtures failed", failed, ran)
	}
	fmt.Fprintf(a.stdout, "ok: %d fixtures of %d filters, each in its variants\n", ran, len(set.Filters()))
	return nil
}

type filtersExplain struct {
	filterFiles
	Failed  bool   `help:"The client marked the result as an error."`
	Output  bool   `help:"Print what goes out, and nothing else."`
	Command string `arg:"" help:"The command line."`
	File    string `arg:"" help:"Its output; - reads standard input." type:"path"`
}

// Run prints each line with the stage that cut it.
func (c *filtersExplain) Run(a *app) error {
	set, err := c.set()
	if err != nil {
		return err
	}
	data, err := readFileOrInput(c.File)
	if err != nil {
		return err
	}
	e := set.Explain(c.Command, string(data), c.Failed)
	if c.Output {
		_, err := io.WriteString(a.stdout, e.Forwarded)
		return err
	}
	cut := 0
	for i, l := range e.Lines {
		sign := " "
		switch {
		case l.Cut:
			sign = "-"
			cut++
		case l.By != "":
			sign = "~"
		}
		by := ""
		if l.By != "" {
			by = "    <- " + l.By
		}
		fmt.Fprintf(a.stdout, "%6d %s %s%s\n", i+1, sign, l.Text, by)
	}
	filters := strings.Join(e.Filters, ", ")
	if filters == "" {
		filters = "none"
	}
	fmt.Fprintf(a.stdout, "filter: %s\n", filters)
	if e.Failed {
		fmt.Fprintln(a.stdout, "it counts as the output of a failed command")
	}
	if e.Gate != "" {
		fmt.Fprintf(a.stdout, "the output stays as it is: %s\n", e.Gate)
		return nil
	}
	fmt.Fprintf(a.stdout, "%d of %d lines cut, about %d tokens of %d left\n", cut, len(e.Lines), e.After, e.Before)
	return nil
}

func readFileOrInput(name string) ([]byte, error) {
	if name == "-" || strings.HasSuffix(name, "/-") {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}
