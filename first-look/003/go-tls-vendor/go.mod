module metals

go 1.22
