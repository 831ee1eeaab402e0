// lms.mjs PORT: the outcomes service of an LMS. It takes a grade in LMS_MS and answers.
import http from "node:http";

const port = Number(process.argv[2]);
const took = Number(process.env.LMS_MS ?? 8);
let count = 0;

http
  .createServer({ keepAliveTimeout: 60000, noDelay: true }, (request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { sourcedid, score } = JSON.parse(body);
      setTimeout(() => {
        count += 1;
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ sourcedid, score, status: "success", count }));
      }, took);
    });
  })
  .listen(port, "127.0.0.1");
