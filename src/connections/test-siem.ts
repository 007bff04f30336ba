import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export type TestSiem = {
  url: string;
  /** How many requests have come. */
  asked: () => number;
  /** 200: it answers; any other status: it answers with that; null: nobody listens to the request; hang: nobody answers it. */
  answerWith: (status: number | 'hang' | null, only?: 'queries') => void;
};

/** An OpenSearch that holds one row in every window, knows the rename of its only field, and can be down. Over real HTTP, in the words of its PPL endpoint. */
export async function startSiem(): Promise<TestSiem> {
  let status: number | 'hang' | null = 200;
  let onlyQueries = false;
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (status === 'hang') return;
      if (status === null) return void response.socket?.destroy();
      const sent = Buffer.concat(chunks).toString();
      const isSpared = onlyQueries && !sent.includes('source=');
      response
        .writeHead(isSpared ? 200 : status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer(sent)));
    });
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    answerWith: (next, only) => {
      status = next;
      onlyQueries = only === 'queries';
    },
  };
}

function answer(sent: string): unknown {
  const from = /TIMESTAMP\('([^']+)'\)/.exec(sent)?.[1];
  if (from === undefined) return { version: { distribution: 'opensearch' }, fields: { user: { keyword: {} } } };
  const schema = [
    { name: '@timestamp', type: 'timestamp' },
    { name: sent.includes('rename user as entity') ? 'entity' : 'user', type: 'string' },
  ];
  return { schema, datarows: [[from, 'ada']], total: 1, size: 1 };
}
