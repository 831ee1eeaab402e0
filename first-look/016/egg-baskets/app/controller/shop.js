'use strict';
const { Controller } = require('egg');

const articles = new Map();
for (let i = 1; i <= 900; i++) articles.set(String(i), { sku: i, name: `article ${i}`, cents: 300 + (i * 37) % 9000 });

module.exports = class ShopController extends Controller {
  async health() {
    await this.app.redis.ping();
    this.ctx.body = { ok: true };
  }

  async basket() {
    const { ctx, app } = this;
    const text = await app.redis.get(`basket:${ctx.params.id}`);
    if (!text) ctx.throw(404, 'no such basket');
    const basket = JSON.parse(text);
    for (const line of basket.lines) line.article = articles.get(String(line.sku));
    ctx.body = basket;
  }

  article() {
    const a = articles.get(this.ctx.params.sku);
    if (!a) this.ctx.throw(404, 'no such article');
    this.ctx.body = a;
  }
};
