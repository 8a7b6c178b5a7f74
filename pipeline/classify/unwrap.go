package classify

import (
	"path"
	"strings"
)

// maxUnwrap bounds how deep wrappers are taken off.
const maxUnwrap = 6

// program is the base name of a program without an executable's extension.
func program(w string) string {
	w = path.Base(strings.ReplaceAll(w, `\`, "/"))
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		if len(w) > len(ext) && strings.EqualFold(w[len(w)-len(ext):], ext) {
			return w[:len(w)-len(ext)]
		}
	}
	return w
}

// unwrap takes assignments and wrappers off the left of a simple command. If
// what is wrapped is a script of its own, script is that script.
func unwrap(words []word) (rest []word, script string) {
	for range maxUnwrap {
		for len(words) > 0 && (isAssignment(words[0].text) || isLead(words[0].text)) {
			words = words[1:]
		}
		if len(words) == 0 {
			return nil, ""
		}
		next, inner, ok := unwrapOne(words)
		if inner != "" {
			return nil, inner
		}
		if !ok || len(next) == 0 {
			return words, ""
		}
		words = next
	}
	return words, ""
}

// isLead says that a word only leads a command: a reserved word or a negation.
func isLead(w string) bool {
	switch w {
	case "!", "{", "}", "then", "do", "else", "fi", "done", "esac":
		return true
	}
	return false
}

// isAssignment says that a word is VAR=value.
func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	if i <= 0 || isDigit(w[0]) {
		return false
	}
	for _, c := range []byte(w[:i]) {
		if !isAlnum(c) && c != '_' && c != '+' {
			return false
		}
	}
	return true
}

// flags skips options, those in withValue together with their value.
func flags(words []word, withValue string) []word {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") && len(words[0].text) > 1 {
		w := words[0].text
		words = words[1:]
		if w == "--" {
			return words
		}
		if len(words) > 0 && !strings.Contains(w, "=") && hasField(withValue, w) {
			words = words[1:]
		}
	}
	return words
}

// hasField says that one of the fields of list is w.
func hasField(list, w string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == w {
			return true
		}
	}
	return false
}

// unwrapOne takes one wrapper off.
func unwrapOne(words []word) (rest []word, script string, ok bool) {
	args := words[1:]
	first := ""
	if len(args) > 0 {
		first = args[0].text
	}
	switch p := program(words[0].text); p {
	case "env":
		rest = flags(args, "-u --unset -C --chdir -S")
		for len(rest) > 0 && isAssignment(rest[0].text) {
			rest = rest[1:]
		}
	case "sudo", "doas":
		rest = flags(args, "-u -g -h -p -C --user --group")
	case "command", "builtin":
		if first == "-v" || first == "-V" {
			return nil, "", false
		}
		rest = flags(args, "")
	case "exec", "nohup", "time", "ionice", "stdbuf", "unbuffer", "xvfb-run", "setsid", "chronic":
		rest = flags(args, "-o -f -c -n -e -i -s -a")
		if p == "stdbuf" || p == "exec" || p == "time" {
			rest = flags(args, "-f -a --output --format")
		}
	case "nice":
		rest = flags(args, "-n --adjustment")
	case "timeout":
		rest = flags(args, "-k -s --kill-after --signal")
		if len(rest) > 0 {
			rest = rest[1:]
		}
	case "script":
		for i, a := range args {
			if strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "c") && i+1 < len(args) {
				return nil, args[i+1].text, true
			}
		}
		return nil, "", false
	case "bash", "sh", "zsh", "dash", "ksh":
		return shellScript(args)
	case "rtk", "lean-ctx":
		if first == "-c" && len(args) > 1 {
			return nil, args[1].text, true
		}
		rest = flags(args, "")
	default:
		return unwrapRunner(p, args)
	}
	return rest, "", len(rest) > 0
}

// shellScript finds the script of sh -c.
func shellScript(args []word) (rest []word, script string, ok bool) {
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			return nil, "", false
		}
		if !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, "c") && i+1 < len(args) {
			return nil, args[i+1].text, true
		}
	}
	return nil, "", false
}

// unwrapRunner takes off what runs a program inside an environment.
func unwrapRunner(p string, args []word) (rest []word, script string, ok bool) {
	sub := ""
	if len(args) > 0 {
		sub = args[0].text
	}
	after := func(n int) ([]word, string, bool) {
		if len(args) <= n {
			return nil, "", false
		}
		return args[n:], "", true
	}
	switch p {
	case "npx", "bunx", "pnpx":
		rest = flags(args, "-p --package")
		return rest, "", len(rest) > 0
	case "uv", "poetry", "pipenv", "hatch", "rye", "pdm", "conda", "micromamba", "mamba":
		if sub != "run" {
			return nil, "", false
		}
		rest = flags(args[1:], "-n --name -p --prefix --with --python --group --extra --directory --project --env-file -e")
		return rest, "", len(rest) > 0
	case "pnpm", "yarn":
		if sub == "dlx" || sub == "exec" {
			return after(1)
		}
	case "npm":
		if sub == "exec" {
			rest = flags(args[1:], "-p --package")
			return rest, "", len(rest) > 0
		}
	case "bundle", "mise", "asdf", "fnm", "direnv", "nix", "dotenv", "cross-env", "op", "doppler", "infisical":
		return unwrapEnvironment(p, sub, args)
	case "docker", "podman", "docker-compose", "kubectl", "oc":
		return unwrapContainer(p, args)
	case "python", "python3", "python2", "py":
		for i, a := range args {
			if a.text == "-m" {
				return after(i + 1)
			}
			if !strings.HasPrefix(a.text, "-") {
				break
			}
		}
	}
	return nil, "", false
}

func unwrapEnvironment(p, sub string, args []word) (rest []word, script string, ok bool) {
	switch {
	case p == "bundle" && sub == "exec":
		rest = args[1:]
	case p == "direnv" && sub == "exec" && len(args) > 2:
		rest = args[2:]
	case (p == "mise" || p == "asdf" || p == "fnm") && (sub == "exec" || sub == "x"):
		rest = args[1:]
		if i := indexWord(rest, "--"); i >= 0 {
			rest = rest[i+1:]
		}
	case p == "nix" && sub == "develop":
		for i, a := range args {
			if (a.text == "-c" || a.text == "--command") && i+1 < len(args) {
				rest = args[i+1:]
				break
			}
		}
	case p == "dotenv", p == "op", p == "doppler", p == "infisical":
		if i := indexWord(args, "--"); i >= 0 {
			rest = args[i+1:]
		}
	case p == "cross-env":
		rest = args
	}
	return rest, "", len(rest) > 0
}

// unwrapContainer finds the command that runs inside a container.
func unwrapContainer(p string, args []word) (rest []word, script string, ok bool) {
	if p == "docker" && len(args) > 0 && args[0].text == "compose" {
		p, args = "docker-compose", args[1:]
	}
	if p == "docker-compose" {
		args = flags(args, "-f --file -p --project-name --profile --env-file")
	}
	if len(args) == 0 || args[0].text != "exec" && (p != "docker-compose" || args[0].text != "run") {
		return nil, "", false
	}
	if p == "kubectl" || p == "oc" {
		if i := indexWord(args, "--"); i >= 0 {
			return args[i+1:], "", i+1 < len(args)
		}
		return nil, "", false
	}
	rest = flags(args[1:], "-e --env -u --user -w --workdir --index --name -v --volume --entrypoint -p --publish")
	if len(rest) < 2 {
		return nil, "", false
	}
	return rest[1:], "", true
}

func indexWord(words []word, w string) int {
	for i := range words {
		if words[i].text == w {
			return i
		}
	}
	return -1
}
