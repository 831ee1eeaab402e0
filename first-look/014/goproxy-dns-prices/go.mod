module example.com/goproxydns

go 1.25.0

require (
	github.com/elazarl/goproxy v1.8.3
	github.com/miekg/dns v1.1.73
)

require (
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)
