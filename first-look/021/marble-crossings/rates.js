// The pricing team's gRPC service: fares from its own tables, availability from the operators' system.
const path = require('path');
const http = require('http');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const { ferry } = grpc.loadPackageDefinition(
  loader.loadSync(path.join(__dirname, 'rates.proto'), { keepCase: false, longs: Number }));

const port = process.argv[2];
const operator = { host: '127.0.0.1', port: process.env.OPERATOR_PORT, agent: new http.Agent({ keepAlive: true }) };

const VEHICLES = { none: 0, bicycle: 600, motorbike: 1900, car: 5400, van: 8100 };

function base(crossing) {
  let h = 2166136261;
  for (const c of crossing) h = Math.imul(h ^ c.charCodeAt(0), 16777619) >>> 0;
  return 1500 + (h % 4000);
}

let active = 0, most = 0;
const timing = process.env.RATES_LOG;

function fare(call, done) {
  const { crossing, passengers, vehicle } = call.request;
  const adult = base(crossing);
  const lines = [];
  for (let i = 0; i < passengers; i++) lines.push({ label: `passenger ${i + 1}`, cents: i < 2 ? adult : Math.round(adult / 2) });
  if (VEHICLES[vehicle]) lines.push({ label: vehicle, cents: VEHICLES[vehicle] });
  if (timing) console.log(`fare t=${Date.now()} active=${active}`);
  done(null, { crossing, currency: 'EUR', cents: lines.reduce((s, l) => s + l.cents, 0), lines });
}

function availability(call, done) {
  most = Math.max(most, ++active);
  const t = Date.now();
  http.get({ ...operator, path: `/reservations/${call.request.route}` }, (res) => {
    let text = '';
    res.setEncoding('utf8');
    res.on('data', (d) => { text += d; });
    res.on('end', () => {
      active--;
      if (timing) console.log(`availability ${call.request.route} from=${t} to=${Date.now()} most=${most}`);
      done(null, JSON.parse(text));
    });
  }).on('error', (e) => { active--; done({ code: grpc.status.UNAVAILABLE, message: e.message }); });
}

const server = new grpc.Server({ 'grpc.max_concurrent_streams': Number(process.env.MAX_STREAMS) });
server.addService(ferry.rates.v1.Rates.service, { fare, availability });
server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (err) => {
  if (err) throw err;
});
process.on('SIGTERM', () => { server.forceShutdown(); process.exit(0); });
