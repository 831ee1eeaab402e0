const Koa = require('koa');
const Router = require('@koa/router');
const fs = require('node:fs/promises');
const path = require('node:path');
const { promisify } = require('node:util');
const pbkdf2 = promisify(require('node:crypto').pbkdf2);

const iterations = Number(process.env.PBKDF2_ITERATIONS || 210000);
const app = new Koa();
const router = new Router();

router.get('/', async (ctx) => {
  ctx.type = 'html';
  ctx.body = await fs.readFile(path.join(__dirname, 'page.html'));
});

router.get('/login', async (ctx) => {
  const key = await pbkdf2(String(ctx.query.password), 'pepper', iterations, 32, 'sha512');
  ctx.body = { token: key.toString('hex') };
});

app.use(router.routes());
app.listen(Number(process.argv[2]), '127.0.0.1');
