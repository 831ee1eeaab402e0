// Workers of the price service: they share the work as members of one NATS queue group.
// arguments: port of the health check, port of NATS, number of workers, state (ok or hung)
const net = require('net');
const { connect, JSONCodec } = require('nats');

const [port, natsPort, workers, state] = process.argv.slice(2);
const codec = JSONCodec();
const counts = { received: 0, answered: 0 };

async function worker(number) {
    const nc = await connect({ servers: '127.0.0.1:' + natsPort, name: 'prices-' + state + '-' + number, maxReconnectAttempts: -1, waitOnFirstConnect: true });
    const subscription = nc.subscribe('prices.room', { queue: 'prices' });
    for await (const message of subscription) {
        counts.received++;
        // a hung worker keeps its subscription and its connection (its client library answers pings)
        // but waits for ever for its database handle
        if (state === 'hung')
            continue;
        const { room, nights } = codec.decode(message.data);
        message.respond(codec.encode({ room, nights, total: nights * (80 + Number(room) % 45) }));
        counts.answered++;
    }
}

for (let i = 0; i < Number(workers); i++)
    worker(i).catch(err => { console.error(err); process.exit(1); });

net.createServer(socket => socket.on('error', () => {}).end()).listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => {
    if (process.env.TIMING_LOG)
        require('fs').appendFileSync(process.env.TIMING_LOG, `worker ${state} ${workers} ${JSON.stringify(counts)}\n`);
    process.exit(0);
});
