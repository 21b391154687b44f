package capability

import (
	"fmt"
	"strings"
)

// The enumerations of this package are small integers whose zero value is the
// cautious one. Their text form is what users read and what documents carry.

func enumName[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("invalid(%d)", uint8(v))
}

func enumText[T ~uint8](what string, names []string, v T) ([]byte, error) {
	if int(v) >= len(names) {
		return nil, fmt.Errorf("invalid %s %d", what, uint8(v))
	}
	return []byte(names[v]), nil
}

func enumParse[T ~uint8](what string, names []string, text []byte, v *T) error {
	for i, name := range names {
		if name == string(text) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("invalid %s %q: use one of %s", what, text, strings.Join(names, ", "))
}
