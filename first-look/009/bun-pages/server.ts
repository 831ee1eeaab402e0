import { marked } from "marked";

const upstream = process.env.RECOMMEND!;
const text = (id: string) => `# Product ${id}\n\n` + "A *good* thing to have, in `many` colours.\n\n- one\n- two\n".repeat(6);

async function recommended(id: string): Promise<string[]> {
  try {
    const res = await fetch(`${upstream}/for/${id}`, { signal: AbortSignal.timeout(200) });
    return await res.json();
  } catch {
    return []; // the page is shown without them
  }
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  async fetch(req) {
    const path = new URL(req.url).pathname;
    if (path.startsWith("/product/")) {
      const id = path.slice(9);
      const also = await recommended(id);
      return new Response(marked.parse(text(id)) + also.map((a) => `<p>${a}</p>`).join(""), { headers: { "content-type": "text/html" } });
    }
    return new Response("shop\n");
  },
});
