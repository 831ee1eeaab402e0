// A stand-in for the Kubernetes API server: namespaces, pods and deployments from memory.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var teams = []string{"billing", "carts", "catalog", "delivery", "fraud", "identity", "invoices",
	"mail", "media", "offers", "payments", "search", "stock", "web"}

func put(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Write(b)
}

func main() {
	trace := os.Getenv("TRACE") != ""
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		l := corev1.NamespaceList{TypeMeta: metav1.TypeMeta{Kind: "NamespaceList", APIVersion: "v1"}}
		for _, t := range teams {
			l.Items = append(l.Items, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t}})
		}
		put(w, l)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{ns}/pods", func(w http.ResponseWriter, r *http.Request) {
		l := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
		for i := 0; i < 2+len(r.PathValue("ns"))%4; i++ {
			l.Items = append(l.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.PathValue("ns"), Name: fmt.Sprint("pod-", i)}})
		}
		put(w, l)
	})
	mux.HandleFunc("GET /apis/apps/v1/namespaces/{ns}/deployments/{name}", func(w http.ResponseWriter, r *http.Request) {
		n := int32(3)
		d := appsv1.Deployment{TypeMeta: metav1.TypeMeta{Kind: "Deployment", APIVersion: "apps/v1"}}
		d.Namespace, d.Name = r.PathValue("ns"), r.PathValue("name")
		d.Spec.Replicas = &n
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.local/" + d.Name + ":1.9"}}
		d.Status.ReadyReplicas = 3
		put(w, d)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := time.Now()
		mux.ServeHTTP(w, r)
		if trace {
			log.Printf("call=%d at=%d took=%.2f %s", calls.Add(1), t.UnixMilli(), float64(time.Since(t).Microseconds())/1000, r.URL.Path)
		}
	})))
}
