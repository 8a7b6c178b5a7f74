package extproc

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// metadataNamespace is the namespace of the dynamic metadata.
const metadataNamespace = "trimtab"

// metadata is what is known of the exchange so far, for access logs and Envoy's
// own statistics.
func (x *exchange) metadata() *structpb.Struct {
	if !x.dialect {
		return nil
	}
	r := &x.summary.Report
	var components []string
	for _, c := range r.Components {
		if c.Edits > 0 {
			components = append(components, c.Name)
		}
	}
	violations := 0
	for _, n := range r.Violations {
		violations += n
	}
	m := &trimtabv1.ExchangeMetadata{
		Dialect:          string(r.Dialect),
		Model:            r.Model,
		Profile:          r.Profile,
		Reason:           string(r.Reason),
		Arm:              r.Arm,
		TokensBefore:     float64(r.TokensBefore),
		TokensAfter:      float64(r.TokensAfter),
		SavedTokens:      float64(r.TokensBefore - r.TokensAfter),
		BytesBefore:      float64(r.BytesBefore),
		BytesAfter:       float64(r.BytesAfter),
		Components:       strings.Join(components, ","),
		Conversation:     r.Conversation,
		PrefixViolations: float64(violations),
	}
	if u := x.summary.Usage; x.summary.UsageOutcome == string(promptcache.UsageRead) {
		m.UsageInput, m.UsageCacheRead = float64(u.Fresh), float64(u.Read)
		m.UsageCacheWrite, m.UsageOutput = float64(u.Write5m+u.Write1h), float64(u.Output)
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		metadataNamespace: structpb.NewStructValue(fieldsOf(m.ProtoReflect())),
	}}
}

// fieldsOf turns a flat message of texts and numbers into a struct. Fields that
// are empty are left out, but for the numbers that one adds up.
func fieldsOf(m protoreflect.Message) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		v := m.Get(fd)
		switch {
		case fd.Kind() == protoreflect.DoubleKind:
			if m.Has(fd) || !strings.HasPrefix(string(fd.Name()), "usage_") {
				out.Fields[string(fd.Name())] = structpb.NewNumberValue(v.Float())
			}
		case v.String() != "":
			out.Fields[string(fd.Name())] = structpb.NewStringValue(strings.ToValidUTF8(v.String(), "?"))
		}
	}
	return out
}
