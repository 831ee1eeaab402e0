module catalogue

go 1.22
