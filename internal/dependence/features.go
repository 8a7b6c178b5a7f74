package dependence

// Feature is one part of the product outside the pipeline's components.
type Feature struct {
	Name  string
	Keeps string
	// AtLevel says what it does at off, metadata and everything.
	AtLevel [3]string
	Reason  string
	// Proof names the test that runs the row.
	Proof string
}

// Features lists every part outside the components that keeps something, or
// that a reader may fear keeps something.
func Features() []Feature {
	all := func(s string) [3]string { return [3]string{s, s, s} }
	return []Feature{
		{
			Name: "cache tracker", Keeps: "digests, counts and times, in memory",
			AtLevel: all("works"),
			Reason:  "Without it the provider's cached prefix could not be protected; it holds keyed digests and no text.",
			Proof:   "TestCanaries in components",
		},
		{
			Name: "memo of outcomes", Keeps: "offsets and counts by keyed digest, in memory",
			AtLevel: all("works"),
			Reason:  "It remembers where a block is cut, as numbers, so that work grows with the new bytes only.",
			Proof:   "TestCanaries in components",
		},
		{
			Name: "recorded decisions", Keeps: "facts: a few numbers under a keyed hash",
			AtLevel: [3]string{"none", "works", "works"},
			Reason:  "A decision is rendered again from the block that the client sends again, so no text is needed.",
			Proof:   "TestFactsCarryNoText in store",
		},
		{
			Name: "generated texts", Keeps: "texts",
			AtLevel: [3]string{"none", "none", "works"},
			Reason:  "A model's words can't be worked out again, so they are kept only where content may be kept.",
			Proof:   "TestGeneratedTextsAreKeptAndReplayedWithoutAModel in pipeline",
		},
		{
			Name: "originals and expand", Keeps: "nothing yet",
			AtLevel: all("not offered"),
			Reason:  "The expand policy is never in this version, and without a way back no original is stored.",
			Proof:   "TestCanaries in components",
		},
		{
			Name: "observe mode", Keeps: "nothing",
			AtLevel: all("works"),
			Reason:  "It works the request out, counts, and sends it as it came; it takes no decision.",
			Proof:   "TestObserveSaysWhatItWouldSaveAndSendsTheOriginal in pipeline",
		},
		{
			Name: "holdout", Keeps: "nothing",
			AtLevel: all("works"),
			Reason:  "The arm follows from a keyed hash of the conversation, so there is nothing to remember.",
			Proof:   "TestHoldoutIsAShareOfConversations in pipeline",
		},
		{
			Name: "metrics, /stats and /config", Keeps: "numbers, fixed codes and hashed ids, in memory",
			AtLevel: all("works"),
			Reason:  "Labels come from bounded lists of the product's own; no byte of a request becomes one.",
			Proof:   "TestCanariesInObservables in internal/dependence",
		},
		{
			Name: "access log metadata", Keeps: "what Envoy is told to log: numbers, codes and the model's name",
			AtLevel: all("works"),
			Reason:  "What is published to Envoy is a fixed list of fields without any text of the transcript.",
			Proof:   "TestCanariesInObservables in internal/dependence",
		},
		{
			Name: "debug dumps of requests", Keeps: "nothing",
			AtLevel: all("refused"),
			Reason:  "There is no switch that writes a body anywhere, at any level of storage or logging.",
			Proof:   "TestCanariesInObservables in internal/dependence",
		},
	}
}
