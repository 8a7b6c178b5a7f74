package componenttest

import (
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// FromJSON makes a component of its settings as JSON, with the defaults filled in,
// as Golden wants it.
func FromJSON[S any, M interface {
	*S
	proto.Message
}, C pipeline.Component](constructor func(M) (C, error)) func(settings []byte) (pipeline.Component, error) {
	return func(settings []byte) (pipeline.Component, error) {
		s := M(new(S))
		if err := protojson.Unmarshal(settings, s); err != nil {
			return nil, err
		}
		return constructor(trimtabv1.Fill(s))
	}
}

// Command is the call of a command by a shell tool.
func Command(line string) classify.Call {
	return classify.OfCall("Bash", []transcript.Arg{{Path: "command", Name: "command", Text: line}}, "")
}

// Rewrite runs a component over the result of a call by itself, and returns the new
// text, or the old one and the gate.
func Rewrite(c pipeline.Pure, call classify.Call, text string, failed bool) (string, pipeline.Gate) {
	e, gate := c.Rewrite(pipeline.Block{Text: text, Received: text, Parts: 1, Class: classify.OfResult(call, text, failed)}, pipeline.Prefix{})
	if gate != "" {
		return text, gate
	}
	return Text(e, text), ""
}

// Text is what an edit makes of a text, worked out without the product's code. The
// edit copies nothing.
func Text(e pipeline.Edit, text string) string {
	var b strings.Builder
	for _, p := range e.Pieces {
		if p.Kind == pipeline.Literal {
			b.WriteString(p.Text)
		} else {
			b.WriteString(text[p.From:p.To])
		}
	}
	return b.String()
}
