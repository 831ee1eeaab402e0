// product pages of a shop; the suggestions under each come from another service
const [port, suggest] = [Number(Deno.args[0]), Deno.args[1]];

const products = new Map<string, { id: string; name: string; cents: number }>();
for (let i = 1; i <= 5000; i++) {
  products.set(String(i), { id: String(i), name: `Lamp ${i}`, cents: 900 + (i * 53) % 8000 });
}

async function suggestions(id: string): Promise<string[]> {
  try {
    const r = await fetch(`${suggest}/for/${id}`, { signal: AbortSignal.timeout(150) });
    return await r.json();
  } catch {
    return []; // the page is shown without them
  }
}

Deno.serve({ port, hostname: "127.0.0.1" }, async (req) => {
  const [, what, id] = new URL(req.url).pathname.split("/");
  if (what === "price") return Response.json({ cents: products.get(id)?.cents });
  if (what === "product") {
    return Response.json({ ...products.get(id), suggestions: await suggestions(id) });
  }
  return new Response("lamps");
});
