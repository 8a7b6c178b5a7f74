package secretmask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/redact"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of secretmask.
const (
	GateNone  pipeline.Gate = "no_secret"
	GateStore pipeline.Gate = "store_only"
	GatePath  pipeline.Gate = "allowed_path"
)

// wording is the version of the rules and of what is written.
const wording = 1

// Component masks secrets. It is immutable.
type Component struct {
	settings *trimtabv1.Secretmask
	detector *redact.Detector
}

var _ pipeline.Pure = (*Component)(nil)

var kind = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// New makes the component. Expressions that do not compile, kinds that are no plain
// words and sums that are none are errors.
func New(settings *trimtabv1.Secretmask) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("secretmask: %w", err)
	}
	var opt redact.Options
	for _, p := range settings.GetPatterns() {
		name, expr, ok := strings.Cut(p, "=")
		re, err := regexp.Compile(expr)
		switch {
		case !ok || !kind.MatchString(name):
			return nil, fmt.Errorf("secretmask: pattern %q: want kind=expression, the kind in lower case letters, digits and underscores", p)
		case err != nil:
			return nil, fmt.Errorf("secretmask: pattern %q: %w", name, err)
		case re.MatchString(""):
			return nil, fmt.Errorf("secretmask: pattern %q also matches nothing", name)
		}
		opt.Patterns = append(opt.Patterns, redact.Pattern{Kind: name, Regexp: re})
	}
	for _, p := range settings.GetAllowPatterns() {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("secretmask: allow_patterns: %w", err)
		}
		opt.Allow = append(opt.Allow, re)
	}
	for _, h := range settings.GetAllowHashes() {
		b, err := hex.DecodeString(h)
		if err != nil || len(b) != sha256.Size {
			return nil, fmt.Errorf("secretmask: allow_hashes: %q is no SHA-256 sum of 64 hexadecimal digits", h)
		}
		opt.AllowHashes = append(opt.AllowHashes, [sha256.Size]byte(b))
	}
	for _, p := range settings.GetAllowPaths() {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return nil, fmt.Errorf("secretmask: allow_paths: %q is no pattern of a path, such as testdata/*", p)
		}
	}
	return &Component{settings: settings, detector: redact.New(opt)}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "secretmask",
		Summary:   "Puts a placeholder in the place of secrets in tool results.",
		Stability: "stable",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:    "What is a secret follows from the text alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0007",
		Config:    c.settings,
		Wording:   wording,
		Linear:    true,
		EachPart:  true,
		Redacts:   true,
		Gates: []pipeline.GateDoc{
			{Name: GateNone, Says: "nothing in the text is known to be a secret"},
			{Name: GateStore, Says: "the configuration masks only what is kept and logged"},
			{Name: GatePath, Says: "the configuration allows secrets in this file"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	call := b.Class.Call
	tier := c.tier(call)
	switch {
	case tier == redact.None:
		return pipeline.Edit{}, GateStore
	case call.File != "" && c.allowsPath(call.File):
		return pipeline.Edit{}, GatePath
	}
	found := c.detector.Find(b.Text, tier)
	if len(found) == 0 {
		return pipeline.Edit{}, GateNone
	}
	var pieces pipeline.Pieces
	at := 0
	for _, m := range found {
		pieces.Keep(at, m.From)
		pieces.Literal(c.placeholder(m.Kind, b.Text[m.From:m.To]))
		at = m.To
	}
	pieces.Keep(at, len(b.Text))
	if shows(call) && b.Parts < 2 && !pipeline.HasMark(b.Text) {
		pieces.Literal(note(len(found), strings.HasSuffix(b.Text, "\n")))
	}
	return pipeline.Edit{Pieces: pieces}, ""
}

// tier is what is looked for in the result of a call.
func (c *Component) tier(call classify.Call) redact.Tier {
	switch c.settings.GetWire() {
	case "store_only":
		return redact.None
	case "tier1":
		return redact.Shaped
	}
	if shows(call) && !credentials(call.File) {
		return redact.Shaped
	}
	if c.settings.GetEntropy() {
		return redact.Entropy
	}
	return redact.Contextual
}

// shows says that a result shows a file, which the agent may go on to edit.
func shows(call classify.Call) bool {
	return call.Kind == classify.Read || call.Kind == classify.Edit || call.Sub == classify.Viewer
}

// credentials says that a file is one that holds secrets by its name.
func credentials(file string) bool {
	name := path.Base(file)
	for _, end := range []string{".example", ".sample", ".template", ".dist"} {
		if strings.HasSuffix(name, end) {
			return false
		}
	}
	for _, p := range []string{".env", ".env.*", "*.env", "*.pem", "*.key", "id_rsa*", "id_ed25519*", "id_ecdsa*", "credentials", "credentials.*", ".netrc", ".pgpass", ".npmrc", ".pypirc", "kubeconfig*", "*.tfvars", "secrets.*", "*.kdbx", ".htpasswd"} {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// allowsPath says that a pattern of the configuration fits a file's name, or the
// end of its path.
func (c *Component) allowsPath(file string) bool {
	for _, p := range c.settings.GetAllowPaths() {
		for rest := file; ; {
			if ok, _ := path.Match(p, rest); ok {
				return true
			}
			i := strings.IndexByte(rest, '/')
			if i < 0 {
				break
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// placeholder is what stands in a value's place. Only the configured salt makes it
// depend on the value.
func (c *Component) placeholder(kind, value string) string {
	salt := c.settings.GetRefSalt()
	if salt == "" {
		return redact.Placeholder(kind)
	}
	h := hmac.New(sha256.New, []byte(salt))
	h.Write([]byte(value))
	return redact.Placeholder(kind + "#" + hex.EncodeToString(h.Sum(nil)[:2]))
}

// note tells an agent that goes on to edit the file that what it sees is not all.
func note(n int, terminated bool) string {
	what := " secrets; edit around them]"
	if n == 1 {
		what = " secret; edit around it]"
	}
	line := pipeline.MarkStart + "masked " + strconv.Itoa(n) + what
	if terminated {
		return line + "\n"
	}
	return "\n" + line
}
