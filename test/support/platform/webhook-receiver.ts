import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };
export type Reply = { status: number; headers?: Record<string, string>; body?: string } | 'hang' | 'cut';
export type Receiver = {
  url: string;
  received: Received[];
  /** What is answered from now on. */
  reply: (answer: (received: Received, n: number) => Reply) => void;
  close: () => Promise<void>;
};

/** A real HTTP server that keeps what it was sent and answers as told; 200 at first. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer: (received: Received, n: number) => Reply = () => ({ status: 200, body: 'ok' });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const reply = answer(one, received.length);
      if (reply === 'hang') return;
      if (reply === 'cut') response.socket?.destroy();
      else response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    reply: (next) => {
      answer = next;
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

/** Written after the text of the specification, apart from the code that signs. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const toSign = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const wanted = createHmac('sha256', key).update(toSign).digest('base64');
  const age = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  return age < 60 && String(headers['webhook-signature']).split(' ').includes(`v1,${wanted}`);
}
