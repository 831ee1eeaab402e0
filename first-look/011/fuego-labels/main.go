// Label service: parcel numbers come in ranges from the head office, declarations from the customs office.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-fuego/fuego"
	"golang.org/x/sync/semaphore"
)

type label struct {
	Parcel  string `json:"parcel"`
	Number  int    `json:"number"`
	Barcode string `json:"barcode"`
}

var client = &http.Client{Timeout: 3 * time.Second}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// parcel numbers, taken from the head office in ranges
type numbers struct {
	mu         sync.Mutex
	office     string
	size       int
	next, last int
}

func (n *numbers) take(ctx context.Context) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == n.last {
		text, err := get(ctx, fmt.Sprintf("%s/range?size=%d", n.office, n.size))
		if err != nil {
			return 0, err
		}
		if n.next, err = strconv.Atoi(text); err != nil {
			return 0, err
		}
		n.last = n.next + n.size
	}
	n.next++
	return n.next - 1, nil
}

func barcode(number int) string {
	sum := 0
	for d, f := number, 3; d > 0; d, f = d/10, 4-f {
		sum += d % 10 * f
	}
	return fmt.Sprintf("(00)%017d%d", number, (10-sum%10)%10)
}

func send(w http.ResponseWriter, r *http.Request, answer any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, err = w.Write(body)
	return err
}

func main() {
	customs := os.Getenv("CUSTOMS")
	ranges := numbers{office: os.Getenv("HEAD_OFFICE"), size: 20}
	parallel := int64(2)
	fmt.Sscan(os.Getenv("CUSTOMS_PARALLEL"), &parallel)
	// the customs office asks for few calls at a time
	customsCalls := semaphore.NewWeighted(parallel)

	s := fuego.NewServer(fuego.WithAddr("127.0.0.1:"+os.Args[1]),
		fuego.WithSerializer(send), fuego.WithoutLogger(),
		fuego.WithEngineOptions(fuego.WithOpenAPIConfig(fuego.OpenAPIConfig{DisableLocalSave: true, DisableDefaultServer: true})))
	fuego.Get(s, "/health", func(c fuego.ContextNoBody) (string, error) { return "ok", nil })
	fuego.Get(s, "/label/{parcel}", func(c fuego.ContextNoBody) (label, error) {
		number, err := ranges.take(c.Context())
		return label{c.PathParam("parcel"), number, barcode(number)}, err
	})
	fuego.Get(s, "/barcode/{number}", func(c fuego.ContextNoBody) (label, error) {
		number, err := strconv.Atoi(c.PathParam("number"))
		return label{"", number, barcode(number)}, err
	})
	fuego.Get(s, "/declaration/{parcel}", func(c fuego.ContextNoBody) (label, error) {
		if err := customsCalls.Acquire(c.Context(), 1); err != nil {
			return label{}, err
		}
		defer customsCalls.Release(1)
		text, err := get(c.Context(), customs+"/declare?parcel="+c.PathParam("parcel"))
		return label{c.PathParam("parcel"), 0, text}, err
	})
	if err := s.Run(); err != nil {
		panic(err)
	}
}
