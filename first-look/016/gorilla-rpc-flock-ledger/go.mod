module example.com/ledger

go 1.26.0

require (
	github.com/gofrs/flock v0.13.2
	github.com/gorilla/mux v1.8.1
	github.com/gorilla/rpc v1.2.0
)

require golang.org/x/sys v0.49.0 // indirect
