// menus of a chain of canteens: Curveball; a town's menu is kept by cache-manager for MENU_TTL_MS
import http from "node:http";
import { Application } from "@curveball/core";
import router from "@curveball/router";
import { createCache } from "cache-manager";

const agent = new http.Agent({ keepAlive: true });
const cache = createCache({ ttl: Number(process.env.MENU_TTL_MS) });
let fetched = 0;

function fromKitchen(town) {
  fetched += 1;
  return new Promise((done, failed) => {
    http.get(`${process.env.KITCHEN}/menu?town=${town}`, { agent }, (res) => {
      const parts = [];
      res.on("data", (d) => parts.push(d)).on("end", () => done(JSON.parse(Buffer.concat(parts))));
    }).on("error", failed);
  });
}
const menuOf = (town) => cache.wrap(town, () => fromKitchen(town));

const app = new Application();
app.use(router("/health").get((ctx) => { ctx.response.body = { ok: true, fetched }; }));
app.use(router("/today/:town").get(async (ctx) => {
  const menu = await menuOf(ctx.params.town);
  ctx.response.body = { town: ctx.params.town, dishes: menu.dishes.slice(0, 6) };
}));
app.use(router("/month/:town").get(async (ctx) => {
  ctx.response.body = await menuOf(ctx.params.town);
}));
app.listen(Number(process.argv[2]), "127.0.0.1");
