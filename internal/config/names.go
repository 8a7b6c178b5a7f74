package config

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// aliasOf returns the component that does the work of a component that other
// products of the field have.
func aliasOf(name string) (string, bool) {
	switch name {
	case "dedup", "reread_stub", "reread_delta", "repeat_delta":
		return "backref", true
	}
	return "", false
}

// refused returns why a name is known and yet not accepted.
func refused(name string) (string, bool) {
	switch name {
	case "summarize", "cache_aware_summarizer", "checkpoint.replace":
		return "it would change how many messages there are, and there is no proof yet that this keeps the provider's cache valid", true
	case "symbol_map":
		return "a model may answer with its short names, and there is no guard yet that puts the long ones back into answers", true
	}
	return "", false
}

// refusedSetting returns why a setting that other products of the field have is not
// accepted.
func refusedSetting(component, key string) (string, bool) {
	switch component + "." + key {
	case "collapse.max_frac":
		return "a share of the model's window would cut the same result in another way when the model changes; use max_tokens", true
	case "extract.trigger", "extract.min_request_tokens", "extract.min_messages", "extract.min_request_frac", "extract.min_output_frac", "extract.huge_output_frac":
		return "what is cut out of a result depends on the result alone, so that it stays the same on every turn; use min_tokens", true
	}
	return "", false
}

// componentFields are the oneof's members: the components that there are.
func componentFields() protoreflect.FieldDescriptors {
	return (&trimtabv1.Component{}).ProtoReflect().Descriptor().Oneofs().ByName("settings").Fields()
}

// ComponentNames lists the components that the schema knows, sorted.
func ComponentNames() []string {
	fields := componentFields()
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = string(fields.Get(i).Name())
	}
	slices.Sort(names)
	return names
}

// nearest returns the candidate that name was probably meant to be, or "".
func nearest(name string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), c); d < at && d < len(c) {
			best, at = c, d
		}
	}
	return best
}

// distance is the number of single-character edits between two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
