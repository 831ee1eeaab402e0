module depot

go 1.22
