package envoy

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// JSON writes a configuration as Envoy reads it.
func JSON(m proto.Message) ([]byte, error) {
	out, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	return out, nil
}

// YAML writes a configuration as people read it. The same message always gives
// the same text.
func YAML(m proto.Message) ([]byte, error) {
	data, err := JSON(m)
	if err != nil {
		return nil, err
	}
	// JSON is YAML in another style; reading it as nodes keeps the fields' order.
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	unstyle(&doc)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	return out.Bytes(), enc.Close()
}

func unstyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		unstyle(child)
	}
}
