// Package nristub stands for a plugin's own copy of the stub.
package nristub

import (
	"context"
	"fmt"

	"example.com/src-own-copy/nriapi"
)

type Stub interface {
	Run(context.Context) error
	UpdateContainers([]*nriapi.ContainerUpdate) ([]*nriapi.ContainerUpdate, error)
}

type Option func(*stub) error

type CreateContainerInterface interface {
	CreateContainer(context.Context, *nriapi.PodSandbox, *nriapi.Container) (*nriapi.ContainerAdjustment, []*nriapi.ContainerUpdate, error)
}

type RunPodInterface interface {
	RunPodSandbox(context.Context, *nriapi.PodSandbox) error
}

type stub struct{ required []nriapi.Capability }

func New(p any, opts ...Option) (Stub, error) {
	s := &stub{}
	for _, o := range opts {
		if err := o(s); err != nil {
			return nil, err
		}
	}
	if _, ok := p.(CreateContainerInterface); !ok {
		return nil, fmt.Errorf("no handler")
	}
	return s, nil
}

// WithRequiredRuntimeCapabilities is the option of the draft.
func WithRequiredRuntimeCapabilities(ids ...nriapi.Capability) Option {
	return func(s *stub) error { s.required = ids; return nil }
}

func (s *stub) Run(context.Context) error { return nil }

func (s *stub) UpdateContainers(u []*nriapi.ContainerUpdate) ([]*nriapi.ContainerUpdate, error) {
	return u, nil
}
