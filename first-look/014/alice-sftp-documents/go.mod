module example.com/sftpdocuments

go 1.25.0

require (
	github.com/justinas/alice v1.2.0
	github.com/pkg/sftp v1.13.10
	golang.org/x/crypto v0.41.0
)

require (
	github.com/kr/fs v0.1.0 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
