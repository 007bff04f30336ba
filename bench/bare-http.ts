// A bare node:http server that answers each path with the bytes of one file: what GET /items is held against.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

type Answer = { path: string; file: string; headers: Record<string, string> };

const answers = new Map(
  (JSON.parse(process.argv[2] ?? '[]') as Answer[]).map((one) => [one.path, { ...one, bytes: readFileSync(one.file) }]),
);
const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '');
  if (!answer) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { ...answer.headers, 'content-length': answer.bytes.length });
  response.end(answer.bytes);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` });
});
process.on('disconnect', () => process.exit());
