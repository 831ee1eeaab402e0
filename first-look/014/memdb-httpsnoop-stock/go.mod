module example.com/memdbstock

go 1.25.0

require (
	github.com/felixge/httpsnoop v1.0.4
	github.com/hashicorp/go-memdb v1.3.5
)

require (
	github.com/hashicorp/go-immutable-radix v1.3.1 // indirect
	github.com/hashicorp/golang-lru v0.5.4 // indirect
)
