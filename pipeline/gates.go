package pipeline

// Gates of the engine itself: reasons why no component was asked, or why what it
// wrote was not used. They are counted under the component's name.
const (
	GateNonText         Gate = "non_text_blocks"  // the result has parts that are no text
	GateNoCall          Gate = "no_call"          // no call is known to have made it
	GateExcluded        Gate = "excluded_tool"    // the profile excludes the tool
	GateManyParts       Gate = "several_parts"    // one of several text parts
	GateBudget          Gate = "budget"           // too much text for what this component costs
	GateDecided         Gate = "decided"          // a recorded decision holds the block
	GateNoGain          Gate = "no_gain"          // not fewer tokens and fewer bytes
	GatePanic           Gate = "panic"            // the component panicked; it was reverted
	GateNothing         Gate = "nothing"          // the component neither edited nor said why not
	GateContract        Gate = "contract"         // its pieces point outside the text; reverted
	GateVerify          Gate = "verify_failed"    // the verifier did not get the text back; reverted
	GateNotText         Gate = "not_text"         // a removed span holds what is no character
	GateInsideCharacter Gate = "inside_character" // a cut inside a character
	GateEmpty           Gate = "empty"            // nothing but white space would be left
	GateLevel           Gate = "level"            // the storage level does not keep what it needs
	GateRefused         Gate = "store_refused"    // the store did not take the decision
	GateNotPriced       Gate = "dearer"           // what points at the block costs more than the cut saves
	GateNotCold         Gate = "warm"             // not on a cold turn
)

// EngineGates documents the engine's gates.
func EngineGates() []GateDoc {
	return []GateDoc{
		{GateNonText, "the result has parts that are not text"},
		{GateNoCall, "no tool call in the body is known to have made the result"},
		{GateExcluded, "the profile excludes the tool"},
		{GateManyParts, "the result has several text parts"},
		{GateBudget, "too much text for what the component costs"},
		{GateDecided, "a recorded decision already holds the block"},
		{GateNoGain, "the rewrite would not save both tokens and bytes"},
		{GatePanic, "the component panicked on this block and was reverted"},
		{GateContract, "the component's edit was not valid and was reverted"},
		{GateVerify, "the verifier did not get the text back, so the rewrite was not used"},
		{GateNotText, "what would be removed holds bytes that are no characters"},
		{GateInsideCharacter, "a cut would fall inside a character"},
		{GateEmpty, "nothing but white space would be left"},
		{GateLevel, "the storage level does not keep what the component needs"},
		{GateRefused, "the store was full and did not take the decision"},
		{GateNotPriced, "references to the block would cost more than the cut saves"},
		{GateNotCold, "the provider's cache is not known to be cold"},
	}
}
