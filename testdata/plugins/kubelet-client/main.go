// No device plugin, but two that live next to one: a client of the pod resources
// API, and a DRA driver that serves two versions of the API.
package main

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	drav1 "k8s.io/kubelet/pkg/apis/dra/v1"
	drav1beta1 "k8s.io/kubelet/pkg/apis/dra/v1beta1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

type driver struct {
	drav1.UnimplementedDRAPluginServer
}

type olderDriver struct {
	drav1beta1.UnimplementedDRAPluginServer
}

func main() {
	conn, err := grpc.NewClient("unix:///var/lib/kubelet/pod-resources/kubelet.sock", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client := podresources.NewPodResourcesListerClient(conn)
	pods, err := client.List(context.Background(), &podresources.ListPodResourcesRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pods.PodResources {
		for _, c := range p.Containers {
			fmt.Println(c.Name, c.GetMemory())
		}
	}
	l, err := net.Listen("unix", "dra.sock")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	drav1.RegisterDRAPluginServer(s, &driver{})
	drav1beta1.RegisterDRAPluginServer(s, &olderDriver{})
	log.Fatal(s.Serve(l))
}
