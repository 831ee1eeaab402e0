const restify = require('restify');
const knex = require('knex')({
  client: 'pg',
  connection: { host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'web', database: 'postgres' },
  pool: { min: 2, max: Number(process.env.POOL_MAX || 10) },
});

const server = restify.createServer({ name: 'shop' });

server.get('/product/:id', async (req, res) => {
  const product = await knex('product').where({ id: Number(req.params.id) }).first();
  res.send(product);
});

server.post('/checkout/:id', async (req, res) => {
  const id = Number(req.params.id);
  const order = await knex.transaction(async (trx) => {
    const [row] = await trx('orders').insert({ product: id, state: 'new' }).returning('id');
    let state = 'to-pay';
    if (process.env.PAYMENT_PORT) {
      const answer = await fetch(`http://127.0.0.1:${process.env.PAYMENT_PORT}/authorise/${row.id}`);
      state = (await answer.json()).authorised ? 'paid' : 'refused';
    }
    await trx('product').where({ id }).decrement('stock', 1);
    await trx('orders').where({ id: row.id }).update({ state });
    return { id: row.id, state };
  });
  res.send(order);
});

server.server.keepAliveTimeout = 65000;
server.listen(Number(process.env.PORT), '127.0.0.1');
