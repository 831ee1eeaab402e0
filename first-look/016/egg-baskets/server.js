const { startCluster } = require('egg');
startCluster({ baseDir: __dirname, workers: 1, port: Number(process.env.PORT), hostname: '127.0.0.1' });
