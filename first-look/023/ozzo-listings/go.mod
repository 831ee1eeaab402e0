module listings

go 1.22

require (
	github.com/go-ozzo/ozzo-dbx v1.5.0
	github.com/go-ozzo/ozzo-routing/v2 v2.4.0
	github.com/lib/pq v1.10.9
)

require github.com/golang/gddo v0.0.0-20190904175337-72a348e765d2 // indirect
