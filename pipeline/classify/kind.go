package classify

// Kind is what a tool is for.
type Kind uint8

// The kinds of tool. Other is the zero value: not known.
const (
	Other Kind = iota
	Read
	Search
	List
	Shell
	Edit
	Web
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Read:
		return "read"
	case Search:
		return "search"
	case List:
		return "list"
	case Shell:
		return "shell"
	case Edit:
		return "edit"
	case Web:
		return "web"
	default:
		return "other"
	}
}

// Sub is what a shell's command does, as far as one command makes the output.
type Sub uint8

// The sub-kinds of a shell call. NoSub is the zero value: no shell, no command,
// or several commands that print.
const (
	NoSub   Sub = iota
	Viewer      // prints a file or a window of it: cat, sed -n, head, nl
	Seeker      // prints matches: grep, rg, git grep
	Lister      // prints names: ls, find, tree, git ls-files
	Differ      // prints differences: diff, git diff, git show
	VCS         // any other command of a version control system
	Tester      // runs tests
	Builder     // compiles, bundles
	Linter      // checks or formats sources
	Packer      // installs or lists packages
	Data        // prints data that was asked for: jq, sqlite3, gh --json, python -c
	HTTP        // talks HTTP
	Cluster     // containers and clusters
	Info        // prints facts of the machine: env, ps, stat, wc
	Printer     // echo, printf
	Unknown     // one command, but not a known one
)

// String returns the sub-kind in lower case.
func (s Sub) String() string {
	names := [...]string{
		"", "viewer", "seeker", "lister", "differ", "vcs", "tester", "builder", "linter",
		"packer", "data", "http", "cluster", "info", "printer", "unknown",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return ""
}
