module addresses

go 1.22

require (
	github.com/avast/retry-go/v4 v4.7.0
	gopkg.in/macaron.v1 v1.4.0
)

require (
	github.com/go-macaron/inject v0.0.0-20160627170012-d8a0b8677191 // indirect
	github.com/unknwon/com v0.0.0-20190804042917-757f69c95f3e // indirect
	golang.org/x/crypto v0.0.0-20190701094942-4def268fd1a4 // indirect
	gopkg.in/ini.v1 v1.46.0 // indirect
)
