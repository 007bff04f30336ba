// A bare node:http server that serves the bytes of one file per path. It is the baseline for GET /items.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

type StaticResponse = { path: string; file: string; headers: Record<string, string> };

const responses = new Map(
  (JSON.parse(process.argv[2] ?? '[]') as StaticResponse[]).map((one) => [
    one.path,
    { ...one, bytes: readFileSync(one.file) },
  ]),
);
const server = createServer((request, response) => {
  const stored = responses.get(request.url ?? '');
  if (!stored) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { ...stored.headers, 'content-length': stored.bytes.length });
  response.end(stored.bytes);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` });
});
process.on('disconnect', () => process.exit());
