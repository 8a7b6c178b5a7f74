package extproc

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// metadataNamespace is the namespace of the dynamic metadata.
const metadataNamespace = "trimtab"

// metadata is what is known of the exchange so far and Envoy has not been told, for
// access logs and Envoy's own statistics; nil if there is nothing. Envoy adds it to
// what it was told before.
func (x *exchange) metadata() *structpb.Struct {
	if !x.dialect {
		return nil
	}
	first := !x.told
	x.told = true
	m := &trimtabv1.ExchangeMetadata{}
	if first {
		describe(m, &x.summary.Report)
	}
	if u := x.summary.Usage; x.summary.UsageOutcome == string(promptcache.UsageRead) {
		m.UsageInput, m.UsageCacheRead = float64(u.Fresh), float64(u.Read)
		m.UsageCacheWrite, m.UsageOutput = float64(u.Write5m+u.Write1h), float64(u.Output)
	}
	fields := fieldsOf(m.ProtoReflect(), first)
	if len(fields.Fields) == 0 {
		return nil
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{metadataNamespace: structpb.NewStructValue(fields)}}
}

// describe says what was done to the request.
func describe(m *trimtabv1.ExchangeMetadata, r *pipeline.Report) {
	var components []string
	for _, c := range r.Components {
		if c.Edits > 0 {
			components = append(components, c.Name)
		}
	}
	m.Dialect, m.Model, m.Profile = string(r.Dialect), r.Model, r.Profile
	m.Reason, m.Arm, m.Conversation = string(r.Reason), r.Arm, r.Conversation
	m.TokensBefore, m.TokensAfter = float64(r.TokensBefore), float64(r.TokensAfter)
	m.SavedTokens = float64(r.TokensBefore - r.TokensAfter)
	m.BytesBefore, m.BytesAfter = float64(r.BytesBefore), float64(r.BytesAfter)
	m.Components = strings.Join(components, ",")
	for _, n := range r.Violations {
		m.PrefixViolations += float64(n)
	}
}

// fieldsOf turns a flat message of texts and numbers into a struct. Fields that
// are empty are left out, but, with zeros, for the numbers that one adds up.
func fieldsOf(m protoreflect.Message, zeros bool) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		v := m.Get(fd)
		switch {
		case fd.Kind() == protoreflect.DoubleKind:
			if m.Has(fd) || zeros && !strings.HasPrefix(string(fd.Name()), "usage_") {
				out.Fields[string(fd.Name())] = structpb.NewNumberValue(v.Float())
			}
		case v.String() != "":
			out.Fields[string(fd.Name())] = structpb.NewStringValue(strings.ToValidUTF8(v.String(), "?"))
		}
	}
	return out
}
