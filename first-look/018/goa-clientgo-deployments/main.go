// Rollout page: a goa v3 server that asks the Kubernetes API through client-go.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	goahttp "goa.design/goa/v3/http"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	server "rollouts/gen/http/rollouts/server"
	"rollouts/gen/rollouts"
)

type service struct {
	kube  *kubernetes.Clientset
	mu    sync.RWMutex
	order []string
	known map[string]*rollouts.Team
	trace *log.Logger
}

func (s *service) Health(context.Context) (string, error) { return "ok", nil }

func (s *service) Teams(context.Context) ([]*rollouts.Team, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*rollouts.Team, 0, len(s.order))
	for _, ns := range s.order {
		out = append(out, s.known[ns])
	}
	return out, nil
}

func (s *service) TeamEndpoint(_ context.Context, p *rollouts.TeamPayload) (*rollouts.Team, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.known[p.Namespace]; ok {
		return t, nil
	}
	return nil, errors.New("no such team")
}

func (s *service) Show(ctx context.Context, p *rollouts.ShowPayload) (*rollouts.Deployment, error) {
	t := time.Now()
	d, err := s.kube.AppsV1().Deployments(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if s.trace != nil {
		s.trace.Printf("show at=%d took=%.1f", t.UnixMilli(), ms(time.Since(t)))
	}
	return &rollouts.Deployment{
		Namespace: d.Namespace, Name: d.Name, Image: d.Spec.Template.Spec.Containers[0].Image,
		Desired: int(*d.Spec.Replicas), Ready: int(d.Status.ReadyReplicas),
	}, nil
}

// resync counts the pods of each team, all teams at once.
func (s *service) resync(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.order))
	for i, ns := range s.order {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var pods *corev1.PodList
			pods, errs[i] = s.kube.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
			if errs[i] != nil {
				return
			}
			s.mu.Lock()
			s.known[ns] = &rollouts.Team{Namespace: ns, Owner: "team-" + ns, Pods: len(pods.Items)}
			s.mu.Unlock()
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func number(name string) float64 {
	v, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil {
		log.Fatal(name, ": ", err)
	}
	return v
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	cfg := &rest.Config{
		Host:        "http://127.0.0.1:" + os.Getenv("KUBE_PORT"),
		QPS:         float32(number("KUBE_QPS")),
		Burst:       int(number("KUBE_BURST")),
		UserAgent:   "rollout-page",
		BearerToken: "local",
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		log.Fatal(err)
	}
	s := &service{kube: kube, known: map[string]*rollouts.Team{}}
	if os.Getenv("TRACE") != "" {
		s.trace = log.New(os.Stderr, "", 0)
		var fs flag.FlagSet
		klog.InitFlags(&fs)
		fs.Set("v", "4") // client-go then tells of its own throttling
	}
	nsl, err := kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nsl.Items {
		s.order = append(s.order, n.Name)
		s.known[n.Name] = &rollouts.Team{Namespace: n.Name, Owner: "team-" + n.Name}
	}
	go func() {
		every := time.NewTicker(900 * time.Millisecond)
		for range every.C {
			t := time.Now()
			if err := s.resync(ctx); err != nil && ctx.Err() == nil {
				log.Print("resync: ", err)
			}
			if s.trace != nil {
				s.trace.Printf("resync at=%d took=%.1f", t.UnixMilli(), ms(time.Since(t)))
			}
		}
	}()
	mux := goahttp.NewMuxer()
	endpoints := rollouts.NewEndpoints(s)
	h := server.New(endpoints, mux, goahttp.RequestDecoder, goahttp.ResponseEncoder, nil, nil)
	h.Mount(mux)
	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux}
	go func() { <-ctx.Done(); srv.Close() }()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
