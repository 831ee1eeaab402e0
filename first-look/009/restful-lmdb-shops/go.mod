module shops

go 1.22

require (
	github.com/PowerDNS/lmdb-go v1.9.3
	github.com/emicklei/go-restful/v3 v3.12.2
)
