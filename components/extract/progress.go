package extract

import (
	"strings"
	"unicode/utf8"
)

// maxProgress bounds the length in bytes of what is taken for a line of progress.
const maxProgress = 1000

// progress says that a line is a progress bar and nothing else: a number, a bar,
// and between them only punctuation and units. Without a bar the line must have
// been drawn over with carriage returns, each state a line of progress.
func progress(line string) bool {
	line = strings.TrimRight(line, "\r")
	if line == "" || len(line) > maxProgress {
		return false
	}
	if strings.IndexByte(line, '\r') < 0 {
		number, bar := bare(line)
		return number && bar
	}
	states := 0
	for state := range strings.SplitSeq(line, "\r") {
		if strings.TrimSpace(state) == "" {
			continue
		}
		if number, _ := bare(state); !number || !strings.Contains(state, "%") {
			return false
		}
		states++
	}
	return states > 1
}

// bare says whether a line that has only digits, punctuation, units and bars has a
// number, and whether it has a bar. Any other line has neither.
func bare(line string) (number, bar bool) {
	percent := strings.IndexByte(line, '%') >= 0
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c >= '0' && c <= '9':
			number = true
			i++
		case letter(c):
			end := i
			for end < len(line) && letter(line[end]) {
				end++
			}
			if !unit(line[i:end]) {
				return false, false
			}
			i = end
		case c == '[' && percent && i+3 < len(line) && (line[i+1:i+4] == "===" || line[i+1:i+4] == "###"):
			bar = true
			i++
		case c == '%' && strings.HasPrefix(line[i:], emptyBar):
			bar = true
			i++
		case c < utf8.RuneSelf:
			if strings.IndexByte(" \t./%|=><:-[](),#+*~?", c) < 0 {
				return false, false
			}
			i++
		default:
			r, n := utf8.DecodeRuneInString(line[i:])
			if !glyph(r) {
				return false, false
			}
			bar = true
			i += n
		}
	}
	return number, bar
}

// emptyBar is how a bar looks before the first step.
const emptyBar = "%|      "

// glyph says that a character is what bars and spinners are drawn with.
func glyph(r rune) bool {
	return r >= 0x2588 && r <= 0x258f || r >= 0x2591 && r <= 0x2593 || r == '━' || r == '╸' || r == '╺' || r == '►' || r > 0x2800 && r <= 0x28ff
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// unit says that a word is one of size, time or speed.
func unit(w string) bool {
	switch w {
	case "B", "b", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "k", "K", "M", "G", "s", "ms", "m", "h", "min", "sec", "it", "its", "eta", "ETA", "at", "in", "of":
		return true
	}
	return false
}
