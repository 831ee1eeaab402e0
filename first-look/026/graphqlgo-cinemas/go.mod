module cinemas

go 1.24

require github.com/graphql-go/graphql v0.8.1
