module spool

go 1.21

require (
	github.com/bnkamalesh/webgo/v7 v7.0.1
	github.com/fsnotify/fsnotify v1.7.0
)

require golang.org/x/sys v0.4.0 // indirect
