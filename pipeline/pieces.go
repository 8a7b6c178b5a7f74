package pipeline

// Pieces collects the pieces of an edit, in order. The zero value is ready to use.
type Pieces []Piece

// Keep adds the range [from, to) of the block's text. A range that continues the
// piece before becomes one with it, and an empty one is nothing.
func (p *Pieces) Keep(from, to int) {
	if from >= to {
		return
	}
	if n := len(*p); n > 0 && (*p)[n-1].Kind == Keep && (*p)[n-1].To == from {
		(*p)[n-1].To = to
		return
	}
	*p = append(*p, Piece{Kind: Keep, From: from, To: to})
}

// Literal adds text of the product's own. It becomes one with text before it.
func (p *Pieces) Literal(text string) {
	if n := len(*p); n > 0 && (*p)[n-1].Kind == Literal {
		(*p)[n-1].Text += text
		return
	}
	*p = append(*p, Piece{Kind: Literal, Text: text})
}

// Text is what the pieces make of the block's text. None of them may be a Copy.
func (p Pieces) Text(of string) string { return render(p, of, nil) }
