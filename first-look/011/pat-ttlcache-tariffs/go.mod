module tariffs

go 1.25

require (
	github.com/bmizerany/pat v0.0.0-20170815010413-6226ea591a40
	github.com/jellydator/ttlcache/v3 v3.4.1
)

require golang.org/x/sync v0.16.0 // indirect
