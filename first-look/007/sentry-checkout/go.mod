module checkout

go 1.24.0

require (
	github.com/danielgtaylor/huma/v2 v2.32.0
	github.com/getsentry/sentry-go v0.31.1
)
