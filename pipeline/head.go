package pipeline

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// headFacts are what is remembered of tools and system.
type headFacts struct {
	tokens      int
	editsByLine bool
}

func (headFacts) size() int { return 64 }

// head is what the request's tools and system say.
func (r *run) head() headFacts {
	key := r.e.hasher.Chain(r.e.seed, r.dig.Head)
	if v, ok := r.e.memo.get(key); ok {
		if h, ok := v.(headFacts); ok {
			return h
		}
	}
	h := headFacts{editsByLine: editsByLine(r.t)}
	for _, s := range r.t.HeadSpans() {
		h.tokens += tokens.Estimate(string(r.t.Body[s.Start:s.End]))
	}
	r.e.memo.put(key, h)
	return h
}

// editsByLine says that a declared tool takes line numbers to edit by: a
// miscounted line would corrupt a file. In doubt it does: a false yes costs
// savings only.
func editsByLine(t *transcript.Transcript) bool {
	for i, tool := range t.Tools {
		words := classify.Segments(tool.Name)
		changes, lines := classify.OfName(tool.Name) == classify.Edit, false
		for _, w := range words {
			switch w {
			case "insert", "replace", "delete", "remove", "edit", "update", "move", "patch":
				changes = true
			case "line", "lines":
				lines = true
			}
		}
		switch {
		case strings.HasPrefix(tool.Type, "text_editor_"), strings.HasPrefix(tool.Type, "str_replace_editor_"):
			return true // the provider's own editor inserts by line
		case !changes:
		case lines:
			return true
		default:
			for _, p := range t.Parameters(i) {
				if namesLines(p) {
					return true
				}
			}
		}
	}
	return false
}

// namesLines says that a parameter may take a line number or a range of them.
func namesLines(parameter string) bool {
	ends := 0
	for _, w := range classify.Segments(parameter) {
		switch w {
		case "line", "lines", "lineno", "linenumber", "row", "rows", "range", "ranges":
			return true
		case "start", "end", "first", "last", "from", "to", "begin", "offset":
			ends++
		}
		if strings.HasPrefix(w, "line") && w != "linear" && w != "lineage" {
			return true
		}
	}
	return ends > 0 && len(classify.Segments(parameter)) == 1
}
