import { Application, Router } from "npm:@oakserver/oak@14.1.0";
import MarkdownIt from "npm:markdown-it@14";

const md = new MarkdownIt({ linkify: true, typographer: true });
const notes = Array.from({ length: 50 }, (_, i) =>
  Array.from({ length: 14 }, (_, k) =>
    `## Part ${k} of note ${i}\n\nSome *text* with **weight**, a [link](https://example.org/${i}/${k}) and \`code\`.\n\n` +
    `| a | b |\n|---|---|\n| ${k} | ${i} |\n\n- one\n- two "quoted"\n`).join("\n"));

const router = new Router();
router.get("/", (ctx) => { ctx.response.body = "notes\n"; });
router.get("/note/:id", (ctx) => {
  const note = notes[Number(ctx.params.id) % notes.length];
  ctx.response.type = "html";
  ctx.response.body = md.render(note);
});
router.get("/titles", (ctx) => { ctx.response.body = notes.map((n) => n.slice(0, 20)); });

const app = new Application();
app.use(router.routes());
await app.listen({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")) });
