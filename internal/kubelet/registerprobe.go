package kubelet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// RegistrationSocket is where every kubelet takes registrations of device
// plugins. No flag changes it, --root-dir neither.
const RegistrationSocket = deviceplugin.KubeletSocket

// registrationTimeout bounds a registration. A kubelet refuses a version at once.
const registrationTimeout = 2 * time.Second

// UnsupportedVersion is the version of the API that [ProbeRegistration] asks
// for. No kubelet has it, and the log of the kubelet names who asked.
const UnsupportedVersion = "nri-compat-probe"

// Registration is how a kubelet refused a registration.
type Registration struct {
	// Answer is what it said.
	Answer string
	// Versions are the versions of the device plugin API that it serves.
	Versions []string
}

// ProbeRegistration registers a device plugin that cannot be registered: with a
// version of the API that does not exist, without a resource and without a
// socket. The kubelet refuses it before it looks at anything else, and says
// which versions it serves. That proves that it is alive and serves them, and
// no more: all kubelets from 1.10 on serve v1beta1.
//
// It leaves behind two lines in the log of the kubelet, the second at error level
// from 1.33 on, and in its metrics the time series
// kubelet_device_plugin_registration_total with an empty resource_name.
//
// The error says that there is no socket, that nothing answered in time, or that
// the answer was another one.
func ProbeRegistration(ctx context.Context, socket string) (Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, registrationTimeout)
	defer cancel()
	conn, err := dial(socket)
	if err != nil {
		return Registration{}, fmt.Errorf("registration: %w", err)
	}
	defer conn.Close()
	_, err = deviceplugin.NewRegistrationClient(conn).Register(ctx, &deviceplugin.RegisterRequest{Version: UnsupportedVersion})
	switch {
	case err == nil:
		return Registration{}, errors.New("registration: the kubelet accepted a version that does not exist, so it is none")
	case status.Code(err) == codes.DeadlineExceeded || ctx.Err() != nil:
		return Registration{}, errors.New("registration: the kubelet did not answer in time")
	case status.Code(err) == codes.Unavailable:
		return Registration{}, fmt.Errorf("registration: no kubelet answers: %s", errorMessage(err))
	}
	answer := errorMessage(err)
	versions := supportedVersions(answer)
	if versions == nil {
		return Registration{}, fmt.Errorf("registration: the kubelet answered: %s", answer)
	}
	return Registration{Answer: answer, Versions: versions}, nil
}

// refusal is how kubelets name the versions that they serve; up to 1.11 they
// wrote "versions are".
var refusal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^requested API version "` + UnsupportedVersion + `" is not supported by kubelet\. Supported versions? (?:is|are) \[([a-z0-9" ,]+)\]$`)
})

// supportedVersions reads the versions in a refusal; nil if it is none.
func supportedVersions(answer string) []string {
	m := refusal().FindStringSubmatch(answer)
	if m == nil {
		return nil
	}
	return strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' || r == '"' })
}
