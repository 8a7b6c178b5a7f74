package envoy

import (
	"fmt"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filelogv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	withoutqueryv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/formatter/req_without_query/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// accessLog writes one JSON line per request: numbers, codes and hashed ids,
// never text. The query is left out, since some clients put keys there.
func accessLog(file string) (*accesslogv3.AccessLog, error) {
	text := structpb.NewStringValue
	fields := map[string]*structpb.Value{
		"start_time":     text("%START_TIME%"),
		"method":         text("%REQ(:METHOD)%"),
		"path":           text("%REQ_WITHOUT_QUERY(:PATH)%"),
		"route":          text("%ROUTE_NAME%"),
		"upstream":       text("%UPSTREAM_CLUSTER%"),
		"protocol":       text("%PROTOCOL%"),
		"status":         text("%RESPONSE_CODE%"),
		"details":        text("%RESPONSE_CODE_DETAILS%"),
		"flags":          text("%RESPONSE_FLAGS%"),
		"bytes_received": text("%BYTES_RECEIVED%"),
		"bytes_sent":     text("%BYTES_SENT%"),
		"duration_ms":    text("%DURATION%"),
		// What trimtab says of the exchange.
		"trimtab": text("%DYNAMIC_METADATA(" + MetadataNamespace + ")%"),
		// What Envoy says of the filter: failed_open is the alarm.
		"filter": text("%FILTER_STATE(" + FilterName + ")%"),
	}
	withoutQuery, err := anypb.New(&withoutqueryv3.ReqWithoutQuery{})
	if err != nil {
		return nil, fmt.Errorf("envoy access log: %w", err)
	}
	packed, err := anypb.New(&filelogv3.FileAccessLog{
		Path: file,
		AccessLogFormat: &filelogv3.FileAccessLog_LogFormat{LogFormat: &corev3.SubstitutionFormatString{
			Format: &corev3.SubstitutionFormatString_JsonFormat{JsonFormat: &structpb.Struct{Fields: fields}},
			Formatters: []*corev3.TypedExtensionConfig{{
				Name: "envoy.formatter.req_without_query", TypedConfig: withoutQuery,
			}},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("envoy access log: %w", err)
	}
	return &accesslogv3.AccessLog{
		Name:       "envoy.access_loggers.file",
		ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: packed},
	}, nil
}
