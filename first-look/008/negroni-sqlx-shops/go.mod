module app

go 1.26.8

require (
	github.com/go-sql-driver/mysql v1.8.1
	github.com/jmoiron/sqlx v1.4.0
	github.com/urfave/negroni/v3 v3.1.1
)

require filippo.io/edwards25519 v1.1.0 // indirect
