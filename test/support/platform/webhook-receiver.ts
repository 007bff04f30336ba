import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { closeServer, listen } from '../listen.ts';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
export type ReceiverReply = { status: number; headers?: Record<string, string>; body?: string } | 'hang' | 'cut';
export type Receiver = {
  url: string;
  received: Received[];
  /** Sets the response to later requests. */
  reply: (answer: (received: Received, n: number) => ReceiverReply) => void;
  close: () => Promise<void>;
};

/** Starts an HTTP server that records requests and responds with 200 unless `reply` sets another response. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer: (received: Received, n: number) => ReceiverReply = () => ({ status: 200, body: 'ok' });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      const reply = answer(one, received.length);
      if (reply === 'hang') return;
      if (reply === 'cut') response.socket?.destroy();
      else response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  });
  const origin = await listen(server);
  return {
    url: `${origin}/hook`,
    received,
    reply: (next) => {
      answer = next;
    },
    close: () => closeServer(server),
  };
}

/** Verifies a request with the reference implementation of Standard Webhooks. Timestamps may be 5 minutes off. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
