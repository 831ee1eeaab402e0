module agency

go 1.21
