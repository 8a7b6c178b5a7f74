package classify

import "strings"

// Segments splits a tool's name into lower-case words: at everything that is no
// letter or digit, at camel humps, and inside words that are written together
// (readfile). What names the vendor is dropped: the server of
// mcp__server__tool, everything before the last dot, slash or colon, and
// functions, default_api, mcp and ctx.
func Segments(name string) []string {
	name = withoutVendor(name)
	var out []string
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, splitWord(strings.ToLower(name[start:end]))...)
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			flush(i)
			start = i + 1
		case isUpper(c) && i > start && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			flush(i)
			start = i
		}
	}
	flush(len(name))
	return out
}

func withoutVendor(name string) string {
	if rest, ok := cutPrefixFold(name, "mcp__"); ok {
		if i := strings.Index(rest, "__"); i >= 0 && i+2 < len(rest) {
			name = rest[i+2:]
		}
	}
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	for _, p := range []string{"functions_", "default_api_", "mcp_", "ctx_", "forge_"} {
		if rest, ok := cutPrefixFold(name, p); ok && rest != "" {
			name = rest
		}
	}
	const server = "-mcp-server-"
	if i := strings.Index(strings.ToLower(name), server); i >= 0 && i+len(server) < len(name) {
		name = name[i+len(server):]
	}
	return name
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || isDigit(c) }

// maxJoined bounds the words that splitWord tries to take apart.
const maxJoined = 32

// splitWord takes a word apart if it consists of known words alone, the longest
// first word first: readfile is read and file, but thread and already stay whole.
func splitWord(w string) []string {
	if known(w) || len(w) > maxJoined {
		return []string{w}
	}
	if parts := split(w); parts != nil {
		return parts
	}
	return []string{w}
}

func split(w string) []string {
	if w == "" {
		return []string{}
	}
	// can[i]: the length of the known word that starts at i and leads to the end.
	var can [maxJoined + 1]int
	for i := len(w) - 1; i >= 0; i-- {
		for n := len(w) - i; n >= 2; n-- {
			if (i+n == len(w) || can[i+n] > 0) && known(w[i:i+n]) {
				can[i] = n
				break
			}
		}
	}
	if can[0] == 0 {
		return nil
	}
	var parts []string
	for i := 0; i < len(w); i += can[i] {
		parts = append(parts, w[i:i+can[i]])
	}
	return parts
}

// role is what a segment says about its tool.
type role uint16

const (
	reads    role = 1 << iota // a verb that shows a file
	gets                      // a verb that reads if a file is its object
	searches                  // a verb that looks for something
	greps                     // a word that always means a search
	lists                     // a verb that names files
	shells                    // a word that means a shell
	runs                      // a verb that runs something
	edits                     // a word that always means an edit
	writes                    // a verb that edits if a file is its object
	webs                      // a word that means the web
	fetches                   // a verb that means the web unless a file is its object
	files                     // an object in a file tree
	data                      // an object outside of it
	plain                     // a word without meaning of its own
)

// roleOf is the vocabulary.
func roleOf(w string) role {
	switch w {
	case "read", "view", "cat", "open", "goto", "scroll", "viewer":
		return reads
	case "show", "get", "load", "retrieve", "display":
		return gets
	case "search", "find", "locate":
		return searches
	case "query":
		return searches | data
	case "grep", "rg", "ripgrep", "glob", "references", "referencing", "usages", "codebase":
		return greps
	case "ls", "list", "dir", "tree", "listing":
		return lists
	case "bash", "sh", "zsh", "shell", "terminal", "cmd", "powershell", "pwsh", "command", "commands",
		"console", "process", "processes", "stdin", "ipython", "jupyter", "interpreter", "tests":
		return shells
	case "exec", "execute", "run", "execution", "start", "spawn":
		return runs
	case "edit", "edits", "patch", "patches", "editor", "diff", "multiedit":
		return edits
	case "write", "create", "replace", "apply", "insert", "append", "update", "delete", "remove", "rename",
		"move", "save", "overwrite", "add", "undo", "prepend", "modify", "copy", "make":
		return writes
	case "web", "url", "urls", "http", "https", "browser", "webpage", "website", "internet", "navigate", "crawl",
		"google", "bing", "brave", "tavily", "exa", "firecrawl", "playwright", "puppeteer", "duckduckgo":
		return webs
	case "fetch", "download", "scrape":
		return fetches
	case "file", "files", "directory", "directories", "folder", "folders", "path", "paths", "content", "contents", "code",
		"notebook", "nb", "line", "lines", "symbol", "symbols", "source", "snippet", "str", "string", "cell", "block",
		"definition", "definitions", "pattern", "regex", "structure", "resource", "resources", "range", "chunk", "body":
		return files
	case "issue", "issues", "pull", "pulls", "pr", "prs", "request", "requests", "commit", "commits", "branch",
		"branches", "tag", "tags", "release", "releases", "project", "projects", "user", "users", "team", "teams",
		"label", "labels", "comment", "comments", "repo", "repos", "repository", "repositories", "workflow",
		"workflows", "job", "jobs", "message", "messages", "channel", "channels", "event", "events", "reservation",
		"flight", "flights", "airport", "airports", "customer", "customers", "order", "orders", "product", "products",
		"tool", "tools", "skill", "skills", "task", "tasks", "todo", "todos", "plan", "table", "tables", "database",
		"sql", "image", "images", "screenshot", "audio", "video", "email", "emails", "ticket", "tickets", "model",
		"models", "agent", "agents", "wiki", "calendar", "contact", "contacts", "thread", "threads", "conversation",
		"conversations", "notification", "notifications", "alert", "alerts", "gist", "gists", "secret", "secrets",
		"environment", "environments", "cycle", "cycles", "document", "documents", "entity", "entities", "relation",
		"relations", "observation", "observations", "node", "nodes", "graph", "memory", "memories", "lints",
		"diagnostics", "errors", "page", "pages", "subagent", "passengers", "baggages", "weather", "price", "prices", "media":
		return data
	case "to", "in", "into", "for", "by", "at", "the", "and", "all", "many", "multiple", "multi", "text", "tool_use", "based",
		"last", "new", "name", "names", "output", "up", "down", "from", "with", "my", "raw", "item", "semantic", "info",
		"kill", "python", "test", "script", "after", "before", "plus", "overview", "exact", "session", "use", "local",
		"input", "send", "wait", "check", "status", "stop", "result", "mcp", "fs", "filesystem", "forge":
		return plain
	}
	return 0
}

func known(w string) bool { return roleOf(w) != 0 }

// kindOfName tells the kind from the name alone; final says that it needs no
// support by the arguments.
func kindOfName(name string) (k Kind, final bool) {
	var have role
	segments := Segments(name)
	for _, s := range segments {
		have |= roleOf(s)
	}
	has := func(r role) bool { return have&r != 0 }
	bare := !has(files | data)
	switch {
	case has(webs):
		return Web, true
	case has(shells) && !has(edits):
		return Shell, true
	case has(greps) && !has(edits|writes):
		return Search, true
	case has(fetches):
		if has(files) {
			return Read, true
		}
		return pick(!has(data), Web), true
	case has(data) && !has(files):
		return Other, true
	case has(edits):
		return Edit, true
	case has(writes):
		if has(searches) || has(files) {
			return Edit, true
		}
		return pick(bareVerb(segments), Edit), false
	case has(searches):
		return Search, true
	case has(runs):
		return Shell, true
	case has(lists):
		return List, true
	case has(reads):
		return Read, true
	case has(gets) && has(files):
		return Read, true
	}
	return Other, !bare && has(data)
}

// OfName is the kind that a tool's name alone suggests: what a declaration says,
// before any call is seen.
func OfName(name string) Kind {
	kind, _ := kindOfName(name)
	return kind
}

// bareVerb says that nothing but verbs and words without meaning is in a name.
func bareVerb(segments []string) bool {
	for _, s := range segments {
		if roleOf(s)&(writes|plain) == 0 {
			return false
		}
	}
	return true
}

func pick(cond bool, k Kind) Kind {
	if cond {
		return k
	}
	return Other
}
