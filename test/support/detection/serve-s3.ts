import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import { openS3Client } from '../../../src/platform/lib/storage/s3-client.ts';
import { closeServer, listen } from '../listen.ts';

/**
 * How a request fails: the connection ends before the storage sees the request, after the storage has carried it out, or in the middle of
 * the response, or the storage answers 503.
 */
export type S3Fault = 'before' | 'after' | 'truncated' | 'busy';
export const s3Faults: readonly S3Fault[] = ['before', 'after', 'truncated', 'busy'];

export type S3Server = {
  /** The address of an empty bucket behind a proxy. */
  url: string;
  /** Makes the next requests with this method fail. */
  fail: (method: string, fault: S3Fault, times: number) => void;
  /** The methods of the requests that arrived. */
  requests: string[];
};

export type ServedS3 = S3Server & { close: () => Promise<void> };

/** The environment of programs that use the storage. The server in this process accepts any credentials, but the client needs some. */
export const s3Credentials =
  process.env['TOCSIN_TEST_S3_PORT'] === undefined
    ? { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
    : {
        AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
        AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
      };

type Storage = { port: number; bucket: string; stop: () => Promise<unknown> };

/** Returns a new bucket of the server at `TOCSIN_TEST_S3_PORT` of this machine, whose credentials the environment has, or of a server in this process. */
async function openStorage(): Promise<Storage> {
  const port = Number(process.env['TOCSIN_TEST_S3_PORT'] ?? 0);
  if (port > 0) {
    const bucket = `logs-${Date.now()}-${process.pid}`;
    const address = { bucket, prefix: '', endpoint: `http://127.0.0.1:${port}`, region: undefined };
    const client = openS3Client(address, 1);
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    return { port, bucket, stop: async () => client.destroy() };
  }
  const storage = await startFauxqs({ port: 0, logger: false });
  storage.createBucket('logs');
  Object.assign(process.env, s3Credentials);
  return { port: storage.port, bucket: 'logs', stop: () => storage.stop() };
}

/** Starts object storage with one bucket. The environment has its credentials afterwards. */
export async function serveS3(): Promise<ServedS3> {
  const storage = await openStorage();
  const faults = new Map<string, { fault: S3Fault; times: number }>();
  const requests: string[] = [];
  const proxy = createServer((incoming, response) => {
    const method = incoming.method!;
    requests.push(method);
    const next = faults.get(method);
    const isFailing = next !== undefined && next.times > 0;
    if (isFailing) next.times -= 1;
    forward(storage.port, incoming, response, isFailing ? next.fault : undefined);
  });
  const endpoint = await listen(proxy);
  return {
    url: `s3://${storage.bucket}/tocsin?endpoint=${endpoint}`,
    fail: (method, fault, times) => void faults.set(method, { fault, times }),
    requests,
    close: async () => {
      await closeServer(proxy);
      await storage.stop();
    },
  };
}

function forward(port: number, incoming: IncomingMessage, response: ServerResponse, fault: S3Fault | undefined): void {
  const cut = (): void => void incoming.socket.destroy();
  if (fault === 'before') return cut();
  if (fault === 'busy') return void response.writeHead(503).end();
  const { method, url, headers } = incoming;
  const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers }, async (answer) => {
    const body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
    if (fault === 'after') return cut();
    response.writeHead(answer.statusCode!, answer.headers);
    if (fault === undefined) return void response.end(body);
    // A response without a body is lost as a whole.
    if (body.length === 0) return cut();
    response.write(body.subarray(0, body.length / 2), cut);
  });
  outgoing.on('error', cut);
  incoming.pipe(outgoing);
}
