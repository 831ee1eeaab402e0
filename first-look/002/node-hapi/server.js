import http from 'node:http';
import { createRequire } from 'node:module';
const require = createRequire(process.env.MODULES + '/');
const Hapi = require('@hapi/hapi');
const axios = require('axios');

const backend = axios.create({
  baseURL: process.env.BACKEND,
  httpAgent: new http.Agent({ keepAlive: true, maxSockets: Number(process.env.MAX_SOCKETS) }),
});

const server = Hapi.server({ port: process.env.PORT, host: '127.0.0.1' });

server.route({ method: 'GET', path: '/', handler: () => 'ok' });

server.route({
  method: 'GET',
  path: '/product/{id}',
  handler: async (request) => {
    const { data } = await backend.get('/price/' + request.params.id);
    return { id: request.params.id, price: data.price };
  },
});

server.route({
  method: 'GET',
  path: '/statement/{id}',
  handler: async (request) => {
    const { data } = await backend.get('/statement/' + request.params.id);
    return data;
  },
});

await server.start();
console.log('listening on', server.info.uri);
