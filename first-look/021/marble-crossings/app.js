// Ferry portal: terminals from memory, fares and availability from the rates service over gRPC.
const path = require('path');
const { from } = require('rxjs');
const { mergeMap, map } = require('rxjs/operators');
const { createServer, httpListener, r, HttpError, HttpStatus } = require('@marblejs/http');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const { ferry } = grpc.loadPackageDefinition(
  loader.loadSync(path.join(__dirname, 'rates.proto'), { keepCase: false, longs: Number }));
const rates = new ferry.rates.v1.Rates(`127.0.0.1:${process.env.RATES_PORT}`, grpc.credentials.createInsecure());

const unary = (method, request) => new Promise((resolve, reject) => {
  rates[method](request, { deadline: Date.now() + 5000 }, (err, reply) => (err ? reject(err) : resolve(reply)));
});

const ROUTES = ['dover-calais', 'hull-rotterdam', 'kiel-oslo', 'ystad-swinoujscie', 'rostock-gedser'];
const places = new Map(ROUTES.map((route) => [route, null]));
const terminals = new Map();
for (let i = 1; i <= 60; i++) {
  terminals.set(String(i), {
    id: i, name: `Terminal ${i}`, berths: 1 + (i % 5), checkIn: `${30 + (i % 4) * 15} minutes`,
    routes: ROUTES.filter((_, n) => (i + n) % 2 === 0),
  });
}

const timing = process.env.APP_LOG;

// keeps the departure boards current
setInterval(() => {
  for (const route of ROUTES) {
    unary('availability', { route }).then((a) => places.set(route, a), (e) => console.error(`availability ${route}: ${e.message}`));
  }
}, 800);

const fare$ = r.pipe(
  r.matchPath('/crossings/:id/fare'),
  r.matchType('GET'),
  r.useEffect((req$) => req$.pipe(
    mergeMap((req) => {
      const t = Date.now();
      return from(unary('fare', { crossing: req.params.id, passengers: 3, vehicle: 'car' })).pipe(
        map((body) => {
          if (timing) console.log(`fare from=${t} to=${Date.now()}`);
          return { body };
        }));
    }),
  )),
);

const terminal$ = r.pipe(
  r.matchPath('/terminals/:id'),
  r.matchType('GET'),
  r.useEffect((req$) => req$.pipe(
    map((req) => {
      const terminal = terminals.get(req.params.id);
      if (!terminal) throw new HttpError('no such terminal', HttpStatus.NOT_FOUND);
      return { body: { ...terminal, boards: terminal.routes.map((route) => places.get(route)) } };
    }),
  )),
);

const health$ = r.pipe(
  r.matchPath('/health'),
  r.matchType('GET'),
  r.useEffect((req$) => req$.pipe(mergeMap(() => from(unary('fare', { crossing: '1', passengers: 1, vehicle: 'none' }))), map(() => ({ body: { ok: true } })))),
);

const server = createServer({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  listener: httpListener({ middlewares: [], effects: [fare$, terminal$, health$] }),
});
server.then((listen) => listen());
process.on('SIGTERM', () => process.exit(0));
