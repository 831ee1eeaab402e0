module intake

go 1.24.0

require github.com/pocketbase/pocketbase v0.28.4
