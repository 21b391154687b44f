package inference

import "testing"

func TestBuiltinTableIsSound(t *testing.T) {
	for _, err := range VerifyBuiltin() {
		t.Error(err)
	}
}
