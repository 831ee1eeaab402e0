// The document desk: hands out insurance documents that lie on the SFTP server
// of the print partner. net/http with a chain of alice handlers, pkg/sftp.
//
// SFTP_CONNECTION=per-request dials for each document; SFTP_CONNECTION=kept
// opens one connection at the start and uses it for all of them.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"os"
	"path"
	"regexp"
	"time"

	"github.com/justinas/alice"
	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

type partner struct {
	addr   string
	root   string
	config *ssh.ClientConfig
	kept   *sftp.Client
}

func (p *partner) dial() (*ssh.Client, *sftp.Client, error) {
	conn, err := ssh.Dial("tcp", p.addr, p.config)
	if err != nil {
		return nil, nil, err
	}
	client, err := sftp.NewClient(conn)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, client, nil
}

// read returns the document and how long the dial and the reading took.
func (p *partner) read(name string) ([]byte, time.Duration, time.Duration, error) {
	t0 := time.Now()
	client := p.kept
	if client == nil {
		conn, c, err := p.dial()
		if err != nil {
			return nil, 0, 0, err
		}
		defer conn.Close()
		client = c
	}
	t1 := time.Now()
	f, err := client.Open(path.Join(p.root, name))
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = f.WriteTo(&b)
	return b.Bytes(), t1.Sub(t0), time.Since(t1), err
}

var documentName = regexp.MustCompile(`^policy-[0-9]+\.txt$`)

func main() {
	key, err := os.ReadFile(os.Getenv("SFTP_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		log.Fatal(err)
	}
	hostLine, err := os.ReadFile(os.Getenv("SFTP_HOST_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	hostKey, _, _, _, err := ssh.ParseAuthorizedKey(hostLine)
	if err != nil {
		log.Fatal(err)
	}
	p := &partner{
		addr: os.Getenv("SFTP_ADDR"),
		root: os.Getenv("SFTP_ROOT"),
		config: &ssh.ClientConfig{
			User:              os.Getenv("SFTP_USER"),
			Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
			HostKeyCallback:   ssh.FixedHostKey(hostKey),
			HostKeyAlgorithms: []string{hostKey.Type()},
			Timeout:           10 * time.Second,
		},
	}
	if os.Getenv("SFTP_CONNECTION") == "kept" {
		if _, p.kept, err = p.dial(); err != nil {
			log.Fatal(err)
		}
	}
	trace := os.Getenv("TRACE") == "1"

	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /documents/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if !documentName.MatchString(name) {
			http.NotFound(w, r)
			return
		}
		b, dial, read, err := p.read(name)
		if err != nil {
			log.Print(err)
			http.Error(w, "no document", http.StatusBadGateway)
			return
		}
		if trace {
			log.Printf("dial %.1f read %.1f", ms(dial), ms(read))
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(b)
	})
	noStore := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			next.ServeHTTP(w, r)
		})
	}
	limit := func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, 1<<20) }
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), alice.New(noStore, limit).Then(mux)))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
