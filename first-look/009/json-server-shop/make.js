// db.json: products for json-server
const fs = require('fs');
const products = Array.from({ length: 1200 }, (_, i) => ({ id: i + 1, name: `product ${i + 1}`, group: i % 12, price: (i * 37) % 990, text: 'Good and useful. '.repeat(3) }));
fs.writeFileSync(process.argv[2], JSON.stringify({ products }));
