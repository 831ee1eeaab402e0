module seats

go 1.24

require (
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/lesismal/nbio v1.6.8
	github.com/nats-io/nats.go v1.39.1
)

require (
	github.com/klauspost/compress v1.17.9 // indirect
	github.com/lesismal/llib v1.2.2 // indirect
	github.com/nats-io/nkeys v0.4.9 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.31.0 // indirect
	golang.org/x/sys v0.28.0 // indirect
)
