const http = require('http')

// weather.js PORT [TOWN]: the vendor; it never answers for TOWN, whose station is gone.
const gone = process.argv[3]
http.createServer((req, res) => {
  if (gone && req.url === '/town/' + gone) return
  setTimeout(() => res.end(JSON.stringify({ town: req.url, sky: 'clear' })), 10)
}).listen(Number(process.argv[2]), '127.0.0.1')
