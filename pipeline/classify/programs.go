package classify

import "strings"

// SubKind says what the one command that prints does; NoSub if it is not one.
func (c *Command) SubKind() Sub { return c.sub() }

// sub says what the one command that prints does.
func (c *Command) sub() Sub {
	if !c.Known || c.Several || c.Program == "" {
		return NoSub
	}
	s := subOf(c.Program, c.Args)
	for _, next := range c.Stages[1:] {
		switch next {
		case "head", "tail", "cat", "tee", "less", "more", "sort", "uniq", "column", "nl":
		case "grep", "egrep", "fgrep", "rg", "ag", "awk", "gawk", "sed", "cut", "xargs":
			if s != Viewer || next != "sed" {
				s = Seeker
			}
		case "wc":
			s = Info
		default:
			s = Data
		}
	}
	return s
}

// first is the first word that is no option.
func first(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// subOf classifies a program by its name and, where needed, its first words.
func subOf(p string, args []string) Sub {
	switch p {
	case "cat", "bat", "batcat", "head", "tail", "sed", "nl", "less", "more", "type", "Get-Content", "tac", "view":
		return Viewer
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "awk", "gawk", "Select-String", "findstr", "ast-grep", "sg":
		return Seeker
	case "ls", "find", "fd", "fdfind", "tree", "exa", "eza", "dir", "locate", "Get-ChildItem", "lsd":
		return Lister
	case "diff", "cmp", "comm", "delta", "sdiff", "colordiff", "patch":
		return Differ
	case "git":
		return gitSub(args)
	case "hg", "svn", "jj", "sl", "fossil", "p4":
		return VCS
	case "gh", "glab", "hub":
		return Data
	case "pytest", "py.test", "unittest", "nose2", "tox", "nox", "jest", "vitest", "mocha", "ava", "rspec", "minitest",
		"phpunit", "pest", "ctest", "gotestsum", "ginkgo", "playwright", "cypress", "karma", "bats", "nextest", "behave",
		"cucumber", "xctest", "tap", "c8", "nyc", "jasmine":
		return Tester
	case "go", "cargo", "npm", "pnpm", "yarn", "bun", "deno", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "mix", "make",
		"gmake", "just", "task", "mise", "rake", "composer", "swift", "zig", "bazel", "nx", "turbo", "lein", "sbt", "stack",
		"cabal", "dart", "flutter", "rebar3", "poetry", "uv", "pip", "pip3", "bundle", "gem", "cmake", "ninja", "meson":
		return taskSub(p, args)
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "javac", "tsc", "esbuild", "webpack", "vite", "rollup", "ld",
		"xcodebuild", "msbuild", "kotlinc", "scalac", "ghc", "elm", "protoc", "buf", "parcel", "tsup", "swc", "babel":
		return Builder
	case "eslint", "prettier", "biome", "ruff", "flake8", "pylint", "mypy", "pyright", "black", "isort", "golangci-lint",
		"gofmt", "goimports", "gofumpt", "staticcheck", "clippy", "rubocop", "shellcheck", "stylelint", "clang-tidy",
		"clang-format", "rustfmt", "phpstan", "psalm", "credo", "dialyzer", "hadolint", "yamllint", "markdownlint",
		"pre-commit", "lefthook", "oxlint", "semgrep", "vale", "codespell":
		return Linter
	case "apt", "apt-get", "apt-cache", "dnf", "yum", "brew", "apk", "pacman", "dpkg", "rpm", "snap", "nix-env", "conda",
		"pipx", "cpan", "luarocks", "opam", "ghcup", "rustup", "nvm", "pyenv", "asdf":
		return Packer
	case "jq", "yq", "xq", "fx", "gron", "mlr", "dasel", "csvkit", "xxd", "hexdump", "od", "strings", "sqlite3", "psql",
		"mysql", "mongosh", "redis-cli", "duckdb", "python", "python3", "node", "perl", "ruby", "php", "base64", "openssl",
		"gpg", "bc", "awscli", "aws", "gcloud", "az", "bd", "terraform", "tofu", "pulumi", "ts-node", "tsx", "lua", "Rscript":
		return Data
	case "curl", "wget", "http", "https", "xh", "httpie", "grpcurl":
		return HTTP
	case "docker", "podman", "kubectl", "helm", "docker-compose", "k9s", "minikube", "kind", "oc", "nerdctl", "kustomize":
		return Cluster
	case "wc", "stat", "file", "du", "df", "ps", "env", "printenv", "uname", "id", "whoami", "date", "which", "whereis", "pwd",
		"hostname", "free", "top", "lsof", "netstat", "ss", "uptime", "sha256sum", "md5sum", "md5", "cksum", "lscpu", "nproc",
		"dig", "nslookup", "host", "ping", "ifconfig", "ip", "history", "command", "realpath", "readlink", "basename",
		"dirname", "man", "locale", "ulimit", "journalctl", "systemctl", "pgrep":
		return Info
	case "echo", "printf":
		return Printer
	}
	return Unknown
}

// gitSub classifies a git command; options before the verb are skipped.
func gitSub(args []string) Sub {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-C", a == "-c", a == "--git-dir", a == "--work-tree":
			i++
			continue
		case strings.HasPrefix(a, "-"):
			continue
		}
		switch a {
		case "diff", "show", "format-patch", "range-diff", "difftool":
			if a == "show" && i+1 < len(args) && strings.Contains(args[i+1], ":") {
				return Viewer
			}
			return Differ
		case "grep":
			return Seeker
		case "ls-files", "ls-tree", "ls-remote":
			return Lister
		case "cat-file":
			return Viewer
		}
		return VCS
	}
	return VCS
}

// taskSub classifies the command of a build tool or a task runner by the words
// that follow.
func taskSub(p string, args []string) Sub {
	verb := first(args)
	if verb == "run" || verb == "run-script" || verb == "x" {
		for i, a := range args {
			if a == verb {
				verb = first(args[i+1:])
				break
			}
		}
	}
	is := func(words ...string) bool {
		for _, w := range words {
			if verb == w || strings.HasPrefix(verb, w+":") || strings.HasPrefix(verb, w+".") || strings.HasPrefix(verb, w+"-") {
				return true
			}
		}
		return false
	}
	switch {
	case is("test", "tests", "t", "check-test", "nextest", "e2e", "spec", "coverage", "unit", "verify", "integration"):
		return Tester
	case is("lint", "fmt", "format", "vet", "clippy", "credo", "check", "typecheck", "dialyzer", "prettier", "eslint", "tsc"):
		return Linter
	case is("install", "i", "ci", "add", "get", "mod", "list", "ls", "view", "outdated", "audit", "update", "tree", "metadata",
		"show", "freeze", "deps", "remove", "uninstall", "dependency", "sync", "lock", "why", "info", "publish", "restore",
		"download", "upgrade", "pack", "version", "env", "doc"):
		return Packer
	case p == "pip", p == "pip3", p == "gem", p == "composer", p == "bundle":
		return Packer
	case is("exec", "eval", "repl"), p == "node":
		return Data
	}
	return Builder
}
