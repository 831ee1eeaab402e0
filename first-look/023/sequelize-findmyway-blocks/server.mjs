// Block explorer: Sequelize over PgBouncer. An indexer posts blocks, readers ask for them.
import http from "node:http";
import findMyWay from "find-my-way";
import { DataTypes, Sequelize } from "sequelize";

const env = process.env;
const sequelize = new Sequelize("explorer", "explorer", "explorer-secret", {
  dialect: "postgres",
  host: "127.0.0.1",
  port: Number(env.DB_PORT),
  logging: false,
  pool: { max: 100, min: 0, acquire: 30000, idle: Number(env.POOL_IDLE), evict: Number(env.POOL_EVICT) },
});

const Block = sequelize.define("block", {
  number: { type: DataTypes.BIGINT, primaryKey: true },
  hash: DataTypes.STRING,
  gas: DataTypes.INTEGER,
}, { timestamps: false });
const Transaction = sequelize.define("transaction", {
  hash: { type: DataTypes.STRING, primaryKey: true },
  blockNumber: { type: DataTypes.BIGINT, field: "block_number" },
  index: DataTypes.INTEGER,
  value: DataTypes.BIGINT,
}, { timestamps: false });

function send(res, status, body) {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}

const router = findMyWay({ defaultRoute: (req, res) => send(res, 404, { error: "not found" }) });
router.on("GET", "/health", (req, res) => send(res, 200, { ok: true }));

router.on("GET", "/blocks/:number", async (req, res, { number }) => {
  const block = await Block.findByPk(number, { raw: true });
  send(res, block ? 200 : 404, block ?? { error: "no such block" });
});

// blockSync: a block comes with its transactions, and they are stored side by side.
router.on("POST", "/blocks/:number/sync", async (req, res, { number }) => {
  const hash = `0x${Number(number).toString(16).padStart(16, "0")}`;
  await Block.upsert({ number, hash, gas: 21000 * 24 });
  await Promise.all(Array.from({ length: 24 }, (_, index) =>
    Transaction.upsert({ hash: `${hash}-${index}`, blockNumber: number, index, value: index * 1000 })));
  send(res, 200, { number, transactions: 24 });
});

http.createServer((req, res) => {
  Promise.resolve(router.lookup(req, res)).catch((e) => send(res, 500, { error: String(e) }));
}).listen(Number(env.PORT), "127.0.0.1");
