// carts of a wholesale shop: itty-router on Node's http server; prices come from the pricing service through superagent
import http from "node:http";
import { AutoRouter, json, text } from "itty-router";
import { createServerAdapter } from "@whatwg-node/server";
import superagent from "superagent";

const prices = process.env.PRICES;
const inOneCall = process.env.PRICES_IN_ONE_CALL === "yes";
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

// every sixth cart is a wholesale customer's, with 14 to 18 lines; the others have 1 to 3
function linesOf(cart) {
  const n = cart % 6 === 0 ? 14 + (cart / 6) % 5 : 1 + cart % 3;
  return Array.from({ length: n }, (_, i) => ({ sku: "A" + ((cart * 7 + i * 13) % 900), count: 1 + i % 4 }));
}

async function priceOf(sku) {
  const reply = await superagent.get(`${prices}/price/${sku}`).agent(agent);
  return reply.body.price;
}

async function pricesOf(skus) {
  const reply = await superagent.get(`${prices}/prices`).query({ skus: skus.join(",") }).agent(agent);
  return reply.body.prices;
}

const router = AutoRouter();
router.get("/health", () => text("ok"));
router.get("/cart/:id", async ({ params }) => {
  const lines = linesOf(Number(params.id));
  let total = 0;
  if (inOneCall) {
    const all = await pricesOf(lines.map((l) => l.sku));
    lines.forEach((l, i) => { l.price = all[i]; total += all[i] * l.count; });
  } else {
    for (const line of lines) {
      line.price = await priceOf(line.sku);
      total += line.price * line.count;
    }
  }
  return json({ id: params.id, lines, total: Math.round(total * 100) / 100 });
});

http.createServer(createServerAdapter(router.fetch)).listen(Number(process.argv[2]), "127.0.0.1");
