package pipeline

import (
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

func TestEditsByLine(t *testing.T) {
	schema := func(name, properties string) string {
		return `{"name":"` + name + `","description":"about lines","input_schema":{"type":"object","properties":{` + properties + `}}}`
	}
	for name, c := range map[string]struct {
		tool string
		want bool
	}{
		"an exact-match editor":       {schema("Edit", `"file_path":{},"old_string":{},"new_string":{},"replace_all":{}`), false},
		"a reader with line numbers":  {schema("Read", `"file_path":{},"offset":{},"start_line":{}`), false},
		"a search":                    {schema("Grep", `"pattern":{},"line_numbers":{}`), false},
		"a plan":                      {schema("update_plan", `"plan":{"type":"array","items":{"properties":{"step":{},"status":{}}}}`), false},
		"an outline":                  {schema("edit_outline", `"outline":{}`), false},
		"start_line":                  {schema("edit_file", `"path":{},"start_line":{}`), true},
		"startLineNumber":             {schema("replaceText", `"startLineNumber":{}`), true},
		"line_start":                  {schema("edit", `"line_start":{},"line_end":{}`), true},
		"from_line":                   {schema("replace", `"from_line":{}`), true},
		"nested":                      {schema("multi_edit", `"edits":{"type":"array","items":{"type":"object","properties":{"start_line":{}}}}`), true},
		"behind anyOf":                {schema("edit", `"where":{"anyOf":[{"properties":{"line":{}}},{"type":"null"}]}`), true},
		"in $defs":                    {`{"name":"edit","input_schema":{"$defs":{"r":{"properties":{"lineno":{}}}},"properties":{"r":{"$ref":"#/$defs/r"}}}}`, true},
		"a range":                     {schema("edit", `"range":{"properties":{"start":{},"end":{}}}`), true},
		"lines in the name":           {schema("insert_lines", `"after":{},"text":{}`), true},
		"delete lines":                {schema("delete_lines", `"a":{},"b":{}`), true},
		"Anthropic's own editor":      {`{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"}`, true},
		"OpenAI function":             {`{"type":"function","function":{"name":"edit","parameters":{"properties":{"insert_line":{}}}}}`, true},
		"a patch tool without schema": {`{"type":"custom","name":"apply_patch","format":{"type":"grammar","definition":"start: line+"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := transcript.Parse(transcript.Anthropic, []byte(`{"tools":[`+c.tool+`],"messages":[]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := editsByLine(tr); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
