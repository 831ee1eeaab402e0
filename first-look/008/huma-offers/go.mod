module app

go 1.26.8

require (
	github.com/danielgtaylor/huma/v2 v2.27.0
	golang.org/x/oauth2 v0.24.0
)
