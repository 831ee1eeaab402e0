module delivery

go 1.26

require (
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/go-martini/martini v0.0.0-20170121215854-22fa46961aab
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/codegangsta/inject v0.0.0-20150114235600-33e0aa1cb7c0 // indirect
)
