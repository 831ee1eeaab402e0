'use strict';
// The load balancer keeps its connections for a minute.
module.exports = (app) => {
  app.on('server', (server) => { server.keepAliveTimeout = 65000; });
};
