package extproc

import "strings"

// traceOf returns the trace id of the first traceparent that is well formed
// (https://www.w3.org/TR/trace-context/) and says that the trace is kept; "" if
// none does. A link to a trace that nobody kept leads nowhere.
func traceOf(parents ...string) string {
	for _, p := range parents {
		part := strings.Split(strings.TrimSpace(p), "-")
		if len(part) < 4 || part[0] == "ff" || part[0] == "00" && len(part) > 4 {
			continue
		}
		version, trace, span, flags := part[0], part[1], part[2], part[3]
		if !lowerHex(version, 2) || !lowerHex(trace, 32) || !lowerHex(span, 16) || !lowerHex(flags, 2) {
			continue
		}
		if strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
			continue
		}
		if !strings.Contains("13579bdf", flags[1:]) {
			return "" // the lowest bit is not set: not kept
		}
		return trace
	}
	return ""
}

func lowerHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
