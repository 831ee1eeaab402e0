// The shop's price gateway: goproxy (github.com/elazarl/goproxy) in reverse
// use. /prices/REPLICA/... goes to REPLICA.prices.shop.internal, whose address
// the name server at DNS_ADDR knows. /health is answered here.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/elazarl/goproxy"
)

func main() {
	resolver := &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, os.Getenv("DNS_ADDR"))
		},
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver}

	proxy := goproxy.NewProxyHttpServer()
	proxy.Tr = &http.Transport{
		DialContext: dialer.DialContext,
		// The replicas come and go, so that no connection is kept.
		DisableKeepAlives: true,
	}
	trace := os.Getenv("TRACE") == "1"
	if trace {
		proxy.Tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(addr)
			t0 := time.Now()
			ips, err := resolver.LookupHost(ctx, host)
			if err != nil {
				return nil, err
			}
			t1 := time.Now()
			c, err := dialer.DialContext(ctx, network, net.JoinHostPort(ips[0], port))
			log.Printf("lookup %.1f connect %.1f", ms(t1.Sub(t0)), ms(time.Since(t1)))
			return c, err
		}
	}
	proxy.NonproxyHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			fmt.Fprintln(w, "ok")
			return
		}
		parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/prices/"), "/", 2)
		if !strings.HasPrefix(r.URL.Path, "/prices/") || len(parts) != 2 {
			http.NotFound(w, r)
			return
		}
		r.URL.Scheme = "http"
		r.URL.Host = parts[0] + ".prices.shop.internal:" + os.Getenv("PRICES_PORT")
		r.URL.Path = "/" + parts[1]
		t0 := time.Now()
		proxy.ServeHTTP(w, r)
		if trace {
			log.Printf("request %.1f", ms(time.Since(t0)))
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), proxy))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
