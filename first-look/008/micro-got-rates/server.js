const { createRequire } = require('module');
const req = createRequire(process.env.MODULES + '/');
const { serve, send } = req('micro');
const got = req('got');
const React = req('react');
const { renderToString } = req('react-dom/server');
const http = require('http');

const agent = { http: new http.Agent({ keepAlive: true, maxSockets: 64 }) };
const rates = got.extend({
  prefixUrl: process.env.PARTNER,
  agent,
  timeout: 5000,
  responseType: 'json',
  retry: { limit: 3, calculateDelay: ({ computedValue }) => computedValue && Math.min(computedValue, 160) },
});

const e = React.createElement;
const Row = ({ n }) => e('tr', { className: n % 2 ? 'odd' : 'even' },
  e('td', null, 'SKU-' + n), e('td', null, 'Article number ' + n), e('td', { style: { textAlign: 'right' } }, (n * 1.37).toFixed(2)),
  e('td', null, e('a', { href: '/article/' + n }, 'details')));
const Page = ({ rows }) => e('html', null, e('body', null, e('table', null, e('tbody', null,
  Array.from({ length: rows }, (_, n) => e(Row, { n, key: n }))))));

const handler = async (request, res) => {
  const url = new URL(request.url, 'http://x');
  if (url.pathname === '/convert') {
    const { rate } = await rates('rate', { searchParams: { busy_every: process.env.BUSY_EVERY } }).json();
    return send(res, 200, { amount: 100, converted: 100 * rate });
  }
  if (url.pathname === '/shelf' || url.pathname === '/catalog') {
    res.setHeader('content-type', 'text/html');
    return send(res, 200, renderToString(e(Page, { rows: url.pathname === '/shelf' ? 60 : 240 })));
  }
  send(res, 200, 'ok');
};
http.createServer(serve(handler)).listen(Number(process.argv[2]), '127.0.0.1');
