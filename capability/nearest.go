package capability

import (
	"cmp"
	"slices"
	"strings"
)

// maxNameLength bounds the work of comparing names: no capability is longer,
// so nothing longer can be near one.
const maxNameLength = 80

// nearest returns up to n known names that a person may have meant by want,
// best first. A name counts as near when it contains want or shares its words,
// or is a few typing errors away.
func nearest(want string, n int) []string {
	if want == "" || len(want) > maxNameLength {
		return nil
	}
	type candidate struct {
		name string
		cost int
	}
	var found []candidate
	for _, known := range names {
		shared := sharedWords(want, known.name)
		typos := distance(want, known.name)
		if shared > 0 || typos <= max(2, len(want)/4) {
			found = append(found, candidate{known.name, typos - 4*shared})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.cost, b.cost) })
	var out []string
	for _, c := range found[:min(n, len(found))] {
		out = append(out, c.name)
	}
	return out
}

// sharedWords counts the words that both names have, without the kind and
// LINUX, which too many names share.
func sharedWords(a, b string) int {
	words := strings.Split(b, "_")
	shared := 0
	for i, w := range strings.Split(a, "_") {
		if i > 0 && len(w) > 1 && w != "LINUX" && slices.Contains(words, w) {
			shared++
		}
	}
	return shared
}

// distance is the number of single-letter edits between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
