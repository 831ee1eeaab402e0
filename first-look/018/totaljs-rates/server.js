// Hotel rates: Total.js 4; prices come from workers behind NATS (request and reply, queue group).
require('total4');
const fs = require('fs');
const { connect, JSONCodec } = require('nats');

const codec = JSONCodec();
const TIMEOUT = 90;
const ATTEMPTS = 5;
const log = process.env.TIMING_LOG;
let nats;

async function price(room, nights) {
    const begun = performance.now();
    for (let attempt = 1; ; attempt++) {
        try {
            const message = await nats.request('prices.room', codec.encode({ room, nights }), { timeout: TIMEOUT });
            log && fs.appendFile(log, `price attempts=${attempt} ms=${(performance.now() - begun).toFixed(1)}\n`, () => {});
            return codec.decode(message.data);
        } catch (err) {
            if (attempt === ATTEMPTS)
                throw err;
        }
    }
}

ROUTE('GET /health', function() {
    this.json({ ok: true });
});

ROUTE('GET /rates/{room}', function(room) {
    price(room, 1).then(value => this.json(value), err => this.throw500(err));
});

ROUTE('GET /rooms', function() {
    this.json([{ type: 'single', beds: 1 }, { type: 'double', beds: 2 }, { type: 'family', beds: 4 }]);
});

connect({ servers: '127.0.0.1:' + process.env.NATS_PORT, name: 'rates', maxReconnectAttempts: -1, waitOnFirstConnect: true }).then(connection => {
    nats = connection;
    HTTP('release', { ip: '127.0.0.1', port: Number(process.env.PORT) });
});
// longer than the clients keep their connections
ON('ready', () => { F.server.keepAliveTimeout = 65000; });
process.on('SIGTERM', () => process.exit(0));
