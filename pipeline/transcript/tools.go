package transcript

// Parameters lists the names of the parameters that tool i declares, at every
// depth of its schema: whatever stands directly under a "properties".
func (t *Transcript) Parameters(i int) []string {
	s := t.Tools[i].Span
	r := reader{body: t.Body[s.Start:s.End]}
	var names []string
	if r.parameters(&names, false) != nil {
		return nil // it was read before: it can't fail
	}
	return names
}

// parameters collects from the next value; properties says that its members are
// parameters.
func (r *reader) parameters(names *[]string, properties bool) error {
	switch r.peek() {
	case '{':
		_, err := r.object(func(m member) error {
			if properties {
				*names = append(*names, m.key)
			}
			return r.parameters(names, !properties && m.key == "properties")
		})
		return err
	case '[':
		_, err := r.array(func(int) error { return r.parameters(names, false) })
		return err
	}
	return r.skip()
}
