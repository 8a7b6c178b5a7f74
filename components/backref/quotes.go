package backref

import "strings"

// quote is a piece of one line of an anchor, as a range of its text.
type quote struct{ from, to int }

// maxQuote is how long a quote may be, in bytes.
const maxQuote = 24

// quotable says that a character may stand in a quote: printable ASCII that ends
// neither the quote nor the mark and that JSON writes as it is.
func quotable(c byte) bool {
	return c >= ' ' && c <= '~' && c != ']' && c != '"' && c != '\\'
}

// quoter finds quotes in one anchor.
type quoter struct {
	t *target
	a *anchor
	// others are the texts that the source's name stands for besides the anchor's
	// own: arguments of the same name of the same call.
	others []string
	loaded bool
}

// begin finds the leftmost quote of a line that occurs in no other line, neither
// of the text as it was received nor of what is forwarded of it, where lines may
// read otherwise and marks quote others. What is found is remembered with the
// anchor.
func (q *quoter) begin(line int) (quote, bool) {
	found, known := q.a.begins[line]
	if !known {
		found = q.search(line)
		if q.t.budget < 0 {
			return quote{}, false
		}
		if q.a.begins == nil {
			q.a.begins = map[int]quote{}
		}
		q.a.begins[line] = found
	}
	return found, found != quote{}
}

func (q *quoter) search(line int) quote {
	q.load()
	start, end := int(q.a.start[line]), q.a.end(q.a.text, line)
	if q.a.count(q.t)[q.a.text[start:end]] > 1 {
		return quote{} // the whole line stands elsewhere, so no piece of it is alone
	}
	found, _ := q.leftmost(start, end, func(piece string) bool {
		first := strings.Index(q.a.text, piece)
		q.t.budget -= first + len(piece)
		if first < start {
			return false
		}
		next := strings.Index(q.a.text[end:], piece)
		if next < 0 {
			q.t.budget -= len(q.a.text) - end
		} else {
			q.t.budget -= next
			return false
		}
		for _, o := range q.others {
			q.t.budget -= len(o)
			if strings.Contains(o, piece) {
				return false
			}
		}
		return q.forwardedOnce(piece)
	})
	return found
}

// forwardedOnce says that a piece is in one line only of what is forwarded.
func (q *quoter) forwardedOnce(piece string) bool {
	text := q.a.source.Forwarded()
	if text == q.a.text {
		return true
	}
	i := strings.Index(text, piece)
	if i < 0 {
		return false // no line of it stands there
	}
	q.t.budget -= len(text)
	n := strings.IndexByte(text[i:], '\n')
	return n < 0 || !strings.Contains(text[i+n:], piece)
}

// count is how often each line stands in the anchor, worked out once.
func (a *anchor) count(t *target) map[string]int {
	if a.counts == nil {
		t.budget -= len(a.text)
		a.counts = make(map[string]int, a.len())
		for i := range a.len() {
			a.counts[a.text[a.start[i]:a.end(a.text, i)]]++
		}
	}
	return a.counts
}

// end finds the leftmost quote of the last line that does not occur between the
// first line, which is included, and the last.
func (q *quoter) end(begin quote, first, last int) (quote, bool) {
	start, end := int(q.a.start[last]), q.a.end(q.a.text, last)
	between := q.a.text[q.a.start[first]:start]
	if first == last {
		start = begin.to // it must follow the first quote
	}
	return q.leftmost(start, end, func(piece string) bool {
		at := strings.Index(between, piece)
		if at < 0 {
			q.t.budget -= len(between)
			return q.t.budget >= 0
		}
		q.t.budget -= at
		return false
	})
}

// load finds the other texts of the same name.
func (q *quoter) load() {
	if q.loaded {
		return
	}
	q.loaded = true
	own := q.a.source
	if own.Argument == "" {
		return
	}
	for i, s := range q.t.before.Sources {
		if i != q.a.index && s.Argument == own.Argument && s.Call.Ordinal == own.Call.Ordinal {
			q.others = append(q.others, s.Text())
		}
	}
}

// maxStarts bounds where a quote may begin in a line.
const maxStarts = 48

// leftmost finds the leftmost piece of text[start:end] that works, and of those
// at one place the shortest that ends with a word.
func (q *quoter) leftmost(start, end int, works func(string) bool) (quote, bool) {
	text := q.a.text
	tries := 0
	for from := start; from < end && tries < maxStarts; from++ {
		if text[from] == ' ' || !quotable(text[from]) || from > start && !wordStart(text, from) {
			continue
		}
		to := from
		for to < end && to-from < maxQuote && quotable(text[to]) {
			to++
		}
		for to > from && text[to-1] == ' ' {
			to--
		}
		tries++
		if !works(text[from:to]) {
			continue
		}
		for short := from + minQuote; short < to; short++ {
			if wordEnd(text, short) && works(text[from:short]) {
				to = short
				break
			}
		}
		return quote{from, to}, true
	}
	return quote{}, false
}

// minQuote is how long a quote is at least, in bytes, if the line has as much: a
// shorter one is hard to find for a reader.
const minQuote = 8

// wordStart says that a word, or the first mark after a space, starts at i.
func wordStart(text string, i int) bool {
	return !wordByte(text[i-1]) && (wordByte(text[i]) || text[i-1] == ' ' || text[i-1] == '\t')
}

// wordEnd says that a word ends before position i, and no space stands there.
func wordEnd(text string, i int) bool {
	return wordByte(text[i-1]) && !wordByte(text[i])
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
