// shipping quotes: Rayo, carriers asked with needle, their names resolved by cacheable-lookup at the company's name server
import dns from "node:dns";
import rayo from "rayo";
import needle from "needle";
import CacheableLookup from "cacheable-lookup";

const resolver = new dns.promises.Resolver();
resolver.setServers(["127.0.0.1:" + process.env.NAME_SERVER_PORT]);
const names = new CacheableLookup({ resolver });
const carriers = ["north", "south", "east", "west", "alpine", "coast", "island", "river", "metro", "valley"];
const options = {
  lookup: names.lookup,
  parse_response: true,
  response_timeout: Number(process.env.CARRIER_TIMEOUT_MS || 2000),
};
let fromList = 0;

const app = rayo({ port: Number(process.argv[2]), host: "127.0.0.1" });
const send = (res, what) => {
  const out = JSON.stringify(what);
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(out) });
  res.end(out);
};
app.get("/health", (req, res) => send(res, { ok: true, fromList }));
app.get("/quote/:parcel", async (req, res) => {
  const n = Number(req.params.parcel);
  const carrier = carriers[n * 7 % 10];
  const grams = 200 + n * 7919 % 30000;
  try {
    const reply = await needle("get", `http://rates.${carrier}.carriers.example:${process.env.CARRIER_PORT}/rate?grams=${grams}`, null, options);
    send(res, { parcel: n, carrier, price: reply.body.price });
  } catch (e) {
    // no answer in time: the price list's figure
    fromList += 1;
    send(res, { parcel: n, carrier, price: 4 + grams / 1000, list: true, why: e.code || e.message });
  }
});
app.start();
