module recipes

go 1.24.0

require (
	github.com/blevesearch/bleve/v2 v2.5.2
	github.com/go-kratos/kratos/v2 v2.8.3
)
