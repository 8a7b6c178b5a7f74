// Package componenttest is the conformance suite that every component passes,
// alone and together: the law of prefix purity under mutators, byte identity
// outside edited strings, never-inflate, idempotence, determinism, and the
// absence of content at each storage level.
//
// Its judges read bodies with encoding/json and share no code with the pipeline.
package componenttest
