package pipeline

import (
	"context"
	"time"

	"github.com/trimtab-io/trimtab/pipeline/redact"
	"github.com/trimtab-io/trimtab/store"
)

// texts is where texts are kept at the profile's level; nil: nowhere. Nothing is
// kept with a secret in it, whatever a component does on the wire.
func (r *run) texts() store.Texts {
	t := r.e.opt.Store.At(r.g.Profile.Level).Texts
	if t == nil {
		return nil
	}
	return maskedTexts{t, r.e.redactor}
}

// maskedTexts keeps texts without the secrets that are known by their shape or by
// what stands before them.
type maskedTexts struct {
	store.Texts
	redactor *redact.Detector
}

// PutOriginal implements store.Texts.
func (m maskedTexts) PutOriginal(ctx context.Context, now time.Time, key store.Key, text string) (kept bool, err error) {
	return m.Texts.PutOriginal(ctx, now, key, masked(m.redactor, text))
}

// PutGenerated implements store.Texts.
func (m maskedTexts) PutGenerated(ctx context.Context, now time.Time, key store.Key, text string) (kept bool, err error) {
	return m.Texts.PutGenerated(ctx, now, key, masked(m.redactor, text))
}

// masked is a text as it may be written anywhere.
func masked(d *redact.Detector, text string) string { return d.Text(text, redact.Contextual) }
