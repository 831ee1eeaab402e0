module go-gorilla-gallery

go 1.26.8

require (
	github.com/gorilla/mux v1.8.1
	golang.org/x/image v0.47.0
)
