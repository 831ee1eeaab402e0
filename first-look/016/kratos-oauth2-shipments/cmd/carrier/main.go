// carrier stands for the parcel carrier's API: an OAuth2 token endpoint that
// checks the client's secret against its bcrypt hash, and a label endpoint.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const tokenLife = 60 * time.Second

func main() {
	hash, err := bcrypt.GenerateFromPassword([]byte("kR7-secret"), 11)
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.Mutex
	tokens := map[string]time.Time{}

	http.HandleFunc("/oauth/token", func(w http.ResponseWriter, r *http.Request) {
		id, secret, ok := r.BasicAuth()
		if !ok || id != "shop" || bcrypt.CompareHashAndPassword(hash, []byte(secret)) != nil {
			http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
			return
		}
		raw := make([]byte, 24)
		rand.Read(raw)
		tok := hex.EncodeToString(raw)
		now := time.Now()
		mu.Lock()
		for t, until := range tokens {
			if now.After(until) {
				delete(tokens, t)
			}
		}
		tokens[tok] = now.Add(tokenLife)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"access_token": tok, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()),
		})
	})
	http.HandleFunc("/v1/shipments/", func(w http.ResponseWriter, r *http.Request) {
		tok := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		mu.Lock()
		until, ok := tokens[tok]
		mu.Unlock()
		if !ok || time.Now().After(until) {
			http.Error(w, `{"error":"invalid_token"}`, http.StatusUnauthorized)
			return
		}
		id := strings.TrimPrefix(r.URL.Path, "/v1/shipments/")
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"id": id, "state": "in_transit", "depot": "DE-" + id, "events": []string{"accepted", "sorted", "loaded"},
		})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
