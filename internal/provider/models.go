package provider

// models are what the list of models has; requests may name any other.
var models = []string{"claude-sonnet-4-5", "gpt-5.1"}

// serveModels answers with the list of models, in the shape of the API whose
// headers the request has.
func (ex *exchange) serveModels() error {
	if ex.r.URL.Query().Has("client_version") { // Codex gets a list of another form
		ex.json(200, object{{"models", []any{}}})
		return nil
	}
	anthropic := ex.r.Header.Get("Anthropic-Version") != ""
	data := []object{}
	for _, id := range models {
		if anthropic {
			data = append(data, object{{"type", "model"}, {"id", id}, {"display_name", id}, {"created_at", "2025-09-29T00:00:00Z"}})
		} else {
			data = append(data, object{{"id", id}, {"object", "model"}, {"created", 1759104000}, {"owned_by", "system"}})
		}
	}
	if anthropic {
		ex.json(200, object{{"data", data}, {"has_more", false}, {"first_id", models[0]}, {"last_id", models[len(models)-1]}})
	} else {
		ex.json(200, object{{"object", "list"}, {"data", data}})
	}
	return nil
}
