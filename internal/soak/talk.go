package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// paths are the dialects.
var paths = [...]string{"/v1/messages", "/v1/chat/completions", "/v1/responses"}

type object = map[string]any

// talk is one conversation of an agent that reads files, some of them again.
type talk struct {
	path    string
	session string
	files   []string // the texts there are to read
	reads   []int    // which one each call has read
}

func newTalk(r *rand.Rand, session string) *talk {
	t := &talk{path: paths[r.IntN(len(paths))], session: session}
	for i := range 2 + r.IntN(4) {
		t.files = append(t.files, source(i, session, 400+r.IntN(8<<10)))
	}
	return t
}

// source is a numbered file of about n bytes, as a read tool prints it.
func source(i int, name string, n int) string {
	var b strings.Builder
	for line := 1; b.Len() < n; line++ {
		fmt.Fprintf(&b, "%6d\tfunc f%d_%d(ctx context.Context) error { return handle(ctx, %q, %d) }\n", line, i, line, name, line*line)
	}
	return b.String()
}

func (t *talk) read(r *rand.Rand) { t.reads = append(t.reads, r.IntN(len(t.files))) }

// body is the request of the turn.
func (t *talk) body(stream bool) ([]byte, error) {
	var o object
	switch t.path {
	case paths[0]:
		o = object{"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": t.messages(), "metadata": object{"user_id": `{"session_id":"` + t.session + `"}`}}
	case paths[1]:
		o = object{"model": "gpt-5", "messages": t.chat(), "prompt_cache_key": t.session}
	default:
		o = object{"model": "gpt-5", "input": t.items(), "prompt_cache_key": t.session}
	}
	o["stream"] = stream
	return json.Marshal(o)
}

func (t *talk) messages() []object {
	list := []object{{"role": "user", "content": "Read the files, please."}}
	for i, n := range t.reads {
		id := fmt.Sprint("toolu_", i)
		list = append(
			list,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "Read", "input": object{"file_path": fmt.Sprint("/src/", n, ".go")}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": t.files[n]}}},
		)
	}
	return list
}

func (t *talk) chat() []object {
	list := []object{{"role": "user", "content": "Read the files, please."}}
	for i, n := range t.reads {
		id, args := fmt.Sprint("call_", i), fmt.Sprintf(`{"file_path":"/src/%d.go"}`, n)
		list = append(
			list,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "Read", "arguments": args}}}},
			object{"role": "tool", "tool_call_id": id, "content": t.files[n]},
		)
	}
	return list
}

func (t *talk) items() []object {
	list := []object{{"type": "message", "role": "user", "content": "Read the files, please."}}
	for i, n := range t.reads {
		id, args := fmt.Sprint("call_", i), fmt.Sprintf(`{"file_path":"/src/%d.go"}`, n)
		list = append(
			list,
			object{"type": "function_call", "call_id": id, "name": "Read", "arguments": args},
			object{"type": "function_call_output", "call_id": id, "output": t.files[n]},
		)
	}
	return list
}

// judge is an engine that never dies: what it makes of a request is what the request
// may become.
type judge struct{ engine *pipeline.Engine }

func newJudge() (*judge, error) {
	e, err := config.Load(config.Options{Environ: []string{"TRIMTAB_PRESET=conservative"}})
	if err != nil {
		return nil, err
	}
	profiles, _, err := service.Profiles(e)
	if err != nil {
		return nil, err
	}
	for i := range profiles {
		profiles[i].Limits.Deadline = 0
	}
	j := &judge{engine: pipeline.New(pipeline.Options{
		Secret:   []byte("any secret will do"),
		Store:    store.Store{Level: store.Metadata, Facts: memory.NewFacts(memory.FactsOptions{})},
		Verifier: verify.New(),
	})}
	j.engine.Apply(profiles, e.DefaultProfile)
	return j, nil
}

func (j *judge) becomes(path string, body []byte) []byte {
	x := j.engine.Rewrite(context.Background(), pipeline.Request{Path: path, AnthropicVersion: path == paths[0], Body: body, Now: time.Now()})
	x.Responded(200, time.Now())
	return x.Body()
}
