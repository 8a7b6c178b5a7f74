package pipeline

// GateNoModel: a generated component wants a text and there is no model.
const GateNoModel Gate = "no_model"

// replayTexts puts kept texts in force: no missing model can make an old rewrite
// disappear.
func (r *run) replayTexts() {
	texts := r.texts()
	if texts == nil {
		return
	}
	for i, c := range r.g.Profile.Components {
		if _, ok := c.(Generated); !ok {
			continue
		}
		for _, l := range r.leaves {
			text, found, err := texts.Get(r.ctx, r.req.Now, r.factKey(i, l))
			if err != nil {
				r.countRewrite("texts_unreadable", 1)
				return
			}
			if found && l.decision == nil {
				l.decision = &decision{component: i, text: text}
			}
		}
	}
}

// generate asks the model for the texts that generated components propose, for
// blocks that the provider does not hold. It is true if any came into force.
func (r *run) generate() bool {
	any := false
	for i, c := range r.g.Profile.Components {
		gen, ok := c.(Generated)
		if !ok || r.texts() == nil {
			continue
		}
		v := r.view()
		for _, j := range r.askPropose(gen, v) {
			if j.Block < 0 || j.Block >= len(v.Blocks) {
				continue
			}
			l := r.leaves[v.Blocks[j.Block].leaf]
			switch {
			case r.e.opt.Model == nil:
				r.declined(i, map[Gate]int{GateNoModel: 1})
			case l.decision != nil || v.Blocks[j.Block].Untouchable != "":
				r.declined(i, map[Gate]int{GateDecided: 1})
			case r.accepted(i, gen, j, l):
				any = true
			}
		}
	}
	return any
}

// accepted gets, judges and keeps one text.
func (r *run) accepted(i int, gen Generated, j Job, l *leaf) bool {
	reply, err := r.e.opt.Model(r.ctx, masked(r.e.redactor, j.Prompt))
	if err != nil {
		r.declined(i, map[Gate]int{GateNoModel: 1})
		return false
	}
	text, gate := r.askAccept(gen, j, reply)
	text = masked(r.e.redactor, text) // as it will be read back
	if gate != "" || text == "" {
		if gate == "" {
			gate = GateEmpty
		}
		r.declined(i, map[Gate]int{gate: 1})
		return false
	}
	trial := *l
	trial.plan, trial.decision = nil, &decision{component: i, text: text, fresh: true}
	if p := r.work(&trial); !p.changed() {
		r.declined(i, map[Gate]int{GateNoGain: 1})
		return false
	}
	kept, err := r.texts().PutGenerated(r.ctx, r.req.Now, r.factKey(i, l), text)
	if err != nil || !kept {
		r.declined(i, map[Gate]int{GateRefused: 1})
		return false
	}
	l.decision = trial.decision
	return true
}

func (r *run) askPropose(c Generated, v View) (jobs []Job) {
	defer func() {
		if recover() != nil {
			jobs = nil
		}
	}()
	return c.Propose(v)
}

func (r *run) askAccept(c Generated, j Job, reply string) (text string, g Gate) {
	defer func() {
		if recover() != nil {
			text, g = "", GatePanic
		}
	}()
	return c.Accept(j, reply)
}
