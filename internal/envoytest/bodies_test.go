package envoytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// file is a numbered file of about n bytes, as a read tool prints it.
func file(name string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%6d\tfunc %s%d(ctx context.Context) error { return handle(ctx, %q, %d) }\n", i, name, i, name, i*i)
	}
	return b.String()
}

type object = map[string]any

// body is a request of about size bytes in which each file is read twice.
func body(t testing.TB, path, session string, size int, stream bool) []byte {
	t.Helper()
	reads := max(1, size/60_000)
	var results []string
	for i := range reads {
		text := file(fmt.Sprintf("part%d", i), size/reads/2)
		results = append(results, text, text)
	}
	var o object
	switch path {
	case "/v1/messages":
		o = anthropic(session, results)
	case "/v1/chat/completions":
		o = chat(session, results)
	case "/v1/responses":
		o = responses(session, results)
	}
	o["stream"] = stream
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func anthropic(session string, results []string) object {
	messages := []object{{"role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("toolu_%03d", i)
		messages = append(
			messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "Read", "input": object{"file_path": fmt.Sprintf("/src/part%d.go", i/2)}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": text}}},
		)
	}
	return object{
		"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages,
		"metadata": object{"user_id": `{"session_id":"` + session + `"}`},
		"tools":    []object{{"name": "Read", "input_schema": object{"type": "object", "properties": object{"file_path": object{"type": "string"}}}}},
	}
}

func chat(session string, results []string) object {
	messages := []object{{"role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("call_%03d", i)
		args := fmt.Sprintf(`{"file_path":"/src/part%d.go"}`, i/2)
		messages = append(
			messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "Read", "arguments": args}}}},
			object{"role": "tool", "tool_call_id": id, "content": text},
		)
	}
	return object{
		"model": "gpt-5", "messages": messages, "prompt_cache_key": session, "stream_options": object{"include_usage": true},
		"tools": []object{{"type": "function", "function": object{"name": "Read", "parameters": object{"type": "object"}}}},
	}
}

func responses(session string, results []string) object {
	input := []object{{"type": "message", "role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("call_%03d", i)
		args := fmt.Sprintf(`{"file_path":"/src/part%d.go"}`, i/2)
		input = append(
			input,
			object{"type": "function_call", "call_id": id, "name": "Read", "arguments": args},
			object{"type": "function_call_output", "call_id": id, "output": text},
		)
	}
	return object{
		"model": "gpt-5", "input": input, "prompt_cache_key": session,
		"tools": []object{{"type": "function", "name": "Read", "parameters": object{"type": "object"}}},
	}
}

// want is what the engine makes of a body that it has never seen.
func want(t testing.TB, path string, body []byte) []byte {
	t.Helper()
	e, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profiles, _, err := service.Profiles(e)
	if err != nil {
		t.Fatal(err)
	}
	engine := pipeline.New(pipeline.Options{
		Secret:   []byte("any secret will do"),
		Store:    store.Store{Level: store.Metadata, Facts: memory.NewFacts(memory.FactsOptions{})},
		Verifier: verify.New(),
	})
	for i := range profiles {
		profiles[i].Limits.Deadline = 0
	}
	engine.Apply(profiles, e.DefaultProfile)
	x := engine.Rewrite(context.Background(), pipeline.Request{Path: path, AnthropicVersion: path == "/v1/messages", Body: body, Now: time.Now()})
	defer x.Close()
	if r := x.Report(); len(r.Violations) > 0 {
		t.Fatalf("violations: %v", r.Violations)
	}
	return x.Body()
}
