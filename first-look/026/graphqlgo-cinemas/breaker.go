package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

var errOpen = errors.New("circuit is open")

// Breaker guards the calls of one other service: after some failures in a row it is open, and calls are refused
// at once. When it has been open for an interval, the next call asks the service for its health, and closes the
// circuit if that is good.
type Breaker struct {
	base      string
	client    *http.Client
	threshold int
	interval  time.Duration
	unlocked  bool // the health of the service is asked for without the lock

	mu       sync.RWMutex
	open     bool
	failures int
	checked  time.Time
}

func NewBreaker(base string) *Breaker {
	return &Breaker{
		base:      base,
		client:    &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		threshold: 3,
		interval:  1500 * time.Millisecond,
		unlocked:  os.Getenv("BREAKER_PROBE") == "unlocked",
	}
}

func (b *Breaker) isOpen() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.open
}

func (b *Breaker) healthy() bool {
	r, err := b.client.Get(b.base + "/.well-known/alive")
	if err != nil {
		return false
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// recover tells if the circuit may be closed again.
func (b *Breaker) recover() bool {
	b.mu.Lock()
	if time.Since(b.checked) < b.interval {
		b.mu.Unlock()
		return false
	}
	if b.unlocked {
		b.checked = time.Now()
		b.mu.Unlock()
		if !b.healthy() {
			return false
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.open, b.failures = false, 0
		return true
	}
	defer b.mu.Unlock()
	ok := b.healthy()
	b.checked = time.Now()
	if ok {
		b.open, b.failures = false, 0
	}
	return ok
}

// Get asks the service, if the circuit lets it.
func (b *Breaker) Get(path string) ([]byte, error) {
	if b.isOpen() && !b.recover() {
		return nil, errOpen
	}
	var body []byte
	r, err := b.client.Get(b.base + path)
	if err == nil {
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err == nil && r.StatusCode >= 500 {
			err = errors.New(r.Status)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failures = 0
		return body, nil
	}
	if b.failures++; b.failures > b.threshold && !b.open {
		b.open, b.checked = true, time.Now()
	}
	return nil, err
}
