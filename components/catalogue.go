package components

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/components/backref"
	"github.com/trimtab-io/trimtab/components/cachesplit"
	"github.com/trimtab-io/trimtab/components/cmdfilter"
	"github.com/trimtab-io/trimtab/components/collapse"
	"github.com/trimtab-io/trimtab/components/extract"
	"github.com/trimtab-io/trimtab/components/format"
	"github.com/trimtab-io/trimtab/components/gutter"
	"github.com/trimtab-io/trimtab/components/linecap"
	"github.com/trimtab-io/trimtab/components/mask"
	"github.com/trimtab-io/trimtab/components/searchfold"
	"github.com/trimtab-io/trimtab/components/secretmask"
	"github.com/trimtab-io/trimtab/components/smartcrush"
	"github.com/trimtab-io/trimtab/components/textclean"
	"github.com/trimtab-io/trimtab/components/toon"
	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Catalogue is the list of all components. A new component is one folder and
// one line here.
func Catalogue() []Entry {
	return []Entry{
		entry("secretmask", secretmask.New),
		entry("textclean", textclean.New),
		entry("cmdfilter", cmdfilter.New),
		entry("extract", extract.New),
		entry("smartcrush", smartcrush.New),
		entry("collapse", collapse.New),
		entry("linecap", linecap.New),
		entry("format", format.New),
		entry("toon", toon.New),
		entry("backref", backref.New),
		entry("gutter", gutter.New),
		entry("searchfold", searchfold.New),
		entry("mask", mask.New),
		entry("cachesplit", cachesplit.New),
	}
}

// Entry is one component of the catalogue.
type Entry struct {
	Name string
	// New makes the component from its settings, with every default filled in.
	New func(settings proto.Message) (pipeline.Component, error)
	// Defaults are the component's settings with every default filled in.
	Defaults func() proto.Message
}

// message is a pointer to a settings struct.
type message[S any] interface {
	*S
	proto.Message
}

func entry[S any, M message[S], C pipeline.Component](name string, make_ func(M) (C, error)) Entry {
	return Entry{
		Name:     name,
		Defaults: func() proto.Message { return trimtabv1.Fill(M(new(S))) },
		New: func(settings proto.Message) (pipeline.Component, error) {
			m, ok := settings.(M)
			if !ok {
				return nil, fmt.Errorf("component %s: settings are %T", name, settings)
			}
			return make_(m)
		},
	}
}

// New makes the named component. Settings nil means the defaults.
func New(name string, settings proto.Message) (pipeline.Component, error) {
	for _, e := range Catalogue() {
		if e.Name != name {
			continue
		}
		if settings == nil {
			settings = e.Defaults()
		}
		c, err := e.New(settings)
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", name, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("component %s: not in the catalogue", name)
}
