package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/trimtab-io/trimtab/components"
	"github.com/trimtab-io/trimtab/pipeline"
)

// idle is a component that looks at nothing: what the engine costs by itself.
type idle struct{}

func (idle) Describe() pipeline.Description {
	return pipeline.Description{
		Name: "idle", AtLevel: [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works}, Linear: true,
		Gates: []pipeline.GateDoc{{Name: "idle", Says: "always"}},
	}
}

func (idle) Rewrite(pipeline.Block, pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	return pipeline.Edit{}, "idle"
}

// componentCase is one component, by itself in an engine.
type componentCase struct {
	name   string
	engine *pipeline.Engine
	cases  *steps // its own test cases; nil if it has none
	talk   []cost // of a talk
	own    []cost // of its own test cases
	idle   []cost // of these, with the idle component
}

// componentBytes is how large the requests are.
const componentBytes = 300_000

func componentCases(root string) ([]*componentCase, error) {
	var list []*componentCase
	for _, entry := range components.Catalogue() {
		made, err := components.New(entry.Name, nil)
		if err != nil {
			return nil, err
		}
		cases, err := casesOf(filepath.Join(root, "components", entry.Name, "testdata"))
		if err != nil {
			return nil, err
		}
		list = append(list, &componentCase{name: entry.Name, engine: newEngine(pipeline.Profile{Components: []pipeline.Component{made}}), cases: cases})
	}
	return list, nil
}

// measureComponents measures each component of the catalogue on requests that are
// seen for the first time, against an engine with a component that does nothing.
func (r *report) measureComponents(ctx context.Context, o options) error {
	var err error
	if r.components, err = componentCases(o.Root); err != nil {
		return err
	}
	bare := newEngine(pipeline.Profile{Components: []pipeline.Component{idle{}}})
	for round, end := 0, time.Now().Add(o.Engine); ctx.Err() == nil && (round < 3 || time.Now().Before(end)); round++ {
		keep := func(list *[]cost, e *pipeline.Engine, body []byte) error {
			c, err := rewrite(e, body)
			if round > 0 { // the first one warms up
				*list = append(*list, c)
			}
			return err
		}
		body := newTalk(fmt.Sprintf("c%d", round), componentBytes).body()
		if err := keep(&r.idle, bare, body); err != nil {
			return err
		}
		for _, c := range r.components {
			if err := keep(&c.talk, c.engine, body); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if c.cases == nil {
				continue
			}
			body, err := c.cases.body(fmt.Sprintf("c%d", round), componentBytes)
			if err == nil {
				err = errors.Join(keep(&c.idle, bare, body), keep(&c.own, c.engine, body))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// steps are the calls and results of a component's test cases, in turn.
type steps struct{ calls []step }

type step struct {
	name   string
	args   json.RawMessage
	result string
	failed bool
}

// casesOf reads all *.txtar below a folder; nil if there are none.
func casesOf(folder string) (*steps, error) {
	s := &steps{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".txtar" {
			return err
		}
		a, err := txtar.ParseFile(name)
		if err != nil {
			return err
		}
		call := step{name: "Bash", args: json.RawMessage("{}")}
		for _, f := range a.Files {
			switch kind, rest, _ := strings.Cut(f.Name, " "); {
			case kind == "call" && json.Valid(f.Data):
				call = step{name: rest, args: f.Data}
			case kind == "result":
				call.result, call.failed = string(f.Data), rest == "error"
				s.calls = append(s.calls, call)
			}
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) || err == nil && len(s.calls) == 0 {
		return nil, nil
	}
	return s, err
}

// body repeats the cases up to a size.
func (s *steps) body(name string, size int) ([]byte, error) {
	type object = map[string]any
	messages := []json.RawMessage{}
	for n := 0; n < size; {
		for _, c := range s.calls {
			id := fmt.Sprint("t", len(messages))
			for _, m := range []object{
				{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": c.name, "input": c.args}}},
				{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": c.result, "is_error": c.failed}}},
			} {
				raw, err := json.Marshal(m)
				if err != nil {
					return nil, err
				}
				messages, n = append(messages, raw), n+len(raw)
			}
		}
	}
	first := object{"role": "user", "content": "Find out why the build of " + name + " fails."}
	raw, err := json.Marshal(first)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": append([]json.RawMessage{raw}, messages...)})
}
