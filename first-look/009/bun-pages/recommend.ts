// The recommendation service; a product whose vector is missing waits for the trainer, which answers rarely.
const waiting = new Map<string, Array<(r: Response) => void>>();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  idleTimeout: 60,
  fetch(req) {
    const id = new URL(req.url).pathname.slice(5);
    if (id.startsWith("new")) {
      return new Promise<Response>((resolve) => {
        const list = waiting.get(id) ?? [];
        list.push(resolve);
        waiting.set(id, list);
      });
    }
    return Response.json([`p${id}-1`, `p${id}-2`, `p${id}-3`]);
  },
});
