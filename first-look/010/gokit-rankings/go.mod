module rankings

go 1.22

require (
	github.com/go-kit/kit v0.13.0
	github.com/gorilla/mux v1.8.1
	github.com/patrickmn/go-cache v2.1.0+incompatible
)

require (
	github.com/go-kit/log v0.2.0 // indirect
	github.com/go-logfmt/logfmt v0.5.1 // indirect
)
