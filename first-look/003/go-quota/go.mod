module articles

go 1.22
