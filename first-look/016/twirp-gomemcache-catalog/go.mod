module example.com/catalog

go 1.24

require (
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/lib/pq v1.12.3
	github.com/twitchtv/twirp v8.1.3+incompatible
	google.golang.org/protobuf v1.36.5
)

require github.com/pkg/errors v0.9.1 // indirect
