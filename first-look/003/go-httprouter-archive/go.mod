module go-httprouter-archive

go 1.26.8

require github.com/julienschmidt/httprouter v1.3.0
