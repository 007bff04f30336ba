import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, withDataDir } from '../test/support/program-environment.ts';
import { startProgram } from '../test/support/program.ts';
import { createRandom, type Random } from './random.ts';

/** Resident memory of the main process in MiB, and how many responses had which status. */
export type MemoryReport = { beforeMb: number; afterMb: number; growthMb: number; statuses: Record<string, number> };

type HostileRequest = { method: 'GET' | 'POST'; path: string; body?: string; headers?: Record<string, string> };

const parallel = 8;

/** Sends requests that never repeat to a real process, each made to stay in some memory: long, unknown, deep, malformed or unauthenticated. `env` are further settings. */
export function measureHostileMemory({
  requests,
  seed,
  env = {},
}: {
  requests: number;
  seed: number;
  env?: Record<string, string>;
}): Promise<MemoryReport> {
  return withDataDir(async (dir) => {
    const program = await startProgram(
      dir,
      { TOCSIN_API_KEY: apiKey, TOCSIN_RATE_LIMIT: '0', TOCSIN_LOG_LEVEL: 'fatal', ...env },
      'serve',
    );
    try {
      const random = createRandom(seed);
      const statuses: Record<string, number> = {};
      const sendMany = async (count: number): Promise<void> => {
        let left = count;
        const worker = async (): Promise<void> => {
          while ((left -= 1) >= 0) {
            const status = random.chance(0.02)
              ? await sendGarbage(program.url, random)
              : await send(program.url, createRequest(random));
            statuses[status] = (statuses[status] ?? 0) + 1;
          }
        };
        await Promise.all(Array.from({ length: parallel }, worker));
      };
      // The first requests load code and open connections.
      await sendMany(Math.min(1000, requests / 2));
      const beforeMb = await readResidentMb(program.url);
      await sendMany(requests);
      await sleep(2000);
      const afterMb = await readResidentMb(program.url);
      return { beforeMb, afterMb, growthMb: afterMb - beforeMb, statuses };
    } finally {
      await program.kill('SIGTERM');
    }
  });
}

async function readResidentMb(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)![1]) / 1_048_576);
}

async function send(url: string, { method, path, body, headers = {} }: HostileRequest): Promise<string> {
  const sent = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers };
  const response = await fetch(url + path, { method, headers: sent, ...(body === undefined ? {} : { body }) });
  await response.arrayBuffer();
  return String(response.status);
}

/** Sends bytes that are no request and leaves. */
function sendGarbage(url: string, random: Random): Promise<string> {
  return new Promise((done) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`POST /${word(random, 50)} HTTP/1.1\r\nx: ${word(random, 30_000)}`),
    );
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end());
    socket.on('close', () => done('garbage'));
    setTimeout(() => socket.destroy(), 200).unref();
  });
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Returns a text that does not repeat, of up to `length` characters. */
function word(random: Random, length: number): string {
  const unit = Array.from({ length: 12 }, () => random.pick([...letters])).join('');
  return unit.repeat(Math.ceil((1 + random.int(length)) / 12)).slice(0, length);
}

function createRequest(random: Random): HostileRequest {
  const text = (length: number): string => word(random, length);
  const preview = (detectionQuery: string): HostileRequest => ({
    method: 'POST',
    path: '/api/detections/preview',
    body: JSON.stringify({
      name: 'n',
      detectionCategory: 'custom',
      systemPrompt: 'p',
      detectionQuery,
      from: '2024-01-01T00:00:00Z',
      to: '2024-01-01T01:00:00Z',
    }),
  });
  const get = (path: string, headers: Record<string, string> = {}): HostileRequest => ({
    method: 'GET',
    path,
    headers,
  });
  const post = (path: string, body: string, headers: Record<string, string> = {}): HostileRequest => ({
    method: 'POST',
    path,
    body,
    headers,
  });
  const roll = random.int(100);
  if (roll < 25) return get(`/items?q=${text(300)}&perPage=${1 + random.int(100)}&${text(20)}=${text(2000)}`);
  if (roll < 35) return get(`/items?page=${random.int(1e9)}&source=${text(400)}`);
  if (roll < 50) return get('/api/keys', { authorization: `Bearer tcs_${random.int(1e9).toString(16)}_${text(300)}` });
  if (roll < 60) return get(`/${text(3000)}/%zz`);
  if (roll < 65) return get(`/taxii2/root/collections/all/objects/?match[id]=${text(1000)}`);
  if (roll < 75) return post('/api/keys', `{"${text(3000)}":${'['.repeat(1000)}${']'.repeat(1000)}}`);
  if (roll < 85)
    return post('/api/indicators/lookup', JSON.stringify({ values: random.many(1, 50, () => `${text(40)}.example`) }));
  if (roll < 92)
    return post('/api/detections', JSON.stringify({ name: text(5000), [text(30)]: text(2000) }), {
      'idempotency-key': text(200),
    });
  if (roll < 94) return preview(`SELECT "${text(60)}", '${text(20_000)}' AS x FROM ${text(20)}`);
  if (roll < 96) return post('/api/detections/preview', text(100_000));
  if (roll < 98) return get(`/api/hits?cursor=${text(450)}&${text(30)}=1`);
  return post(`/api/logs/${text(20)}`, JSON.stringify({ [text(30)]: text(50) }) + '\nnot json', {
    'content-type': 'application/x-ndjson',
  });
}
