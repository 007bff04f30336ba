import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createRandom } from '../src/demo/company/random.ts';
import { pullDocument } from '../test/support/api-client.ts';
import { kevCatalogWith } from '../test/support/feed/kev-document.ts';
import { measureInTurn, median, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { measureLoad } from './http-load.ts';
import { apiKey, withDataDir, withRunningProgram, type RunningProgram } from '../test/support/program-environment.ts';

const [itemsMade, rounds] = [5000, 5];
/** A response to load, and how. */
type Load = { path: string; connections: number; seconds: number };
const itemsLoad: Load = { path: '/items?perPage=100', connections: 10, seconds: 3 };

/** Builds a catalogue with varied words, so that compressing it is realistic work. */
export function variedCatalogue(count: number): string {
  const random = createRandom('items');
  const letters = [...'etaoinshrdlucm'];
  const word = (): string => Array.from({ length: random.int(3, 9) }, () => random.pick(letters)).join('');
  const words = Array.from({ length: 800 }, word);
  const text = (length: number): string => Array.from({ length }, () => random.pick(words)).join(' ');
  const made = JSON.parse(kevCatalogWith('Northmere', count)) as { vulnerabilities: Record<string, unknown>[] };
  for (const entry of made.vulnerabilities) {
    Object.assign(entry, {
      vendorProject: text(1),
      product: text(2),
      vulnerabilityName: text(7),
      shortDescription: text(40),
    });
  }
  return JSON.stringify(made);
}

type Coding = 'identity' | 'gzip';
const headersFor = (coding: Coding): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
  'accept-encoding': coding,
});

/** Returns a response as raw bytes. `fetch` would decompress it. */
async function getRawResponse(
  url: string,
  coding: Coding,
): Promise<{ bytes: Buffer; headers: Record<string, string> }> {
  const request = get(url, { headers: headersFor(coding) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const kept = ['content-type', 'content-encoding', 'etag', 'vary', 'cache-control'];
  const headers = Object.fromEntries(
    kept.flatMap((name) => (response.headers[name] === undefined ? [] : [[name, String(response.headers[name])]])),
  );
  return { bytes, headers };
}

async function startBare(
  dir: string,
  url: string,
): Promise<{ child: ChildProcess; url: string; sizes: Record<Coding, number> }> {
  const answers = [];
  const sizes = { identity: 0, gzip: 0 };
  for (const coding of ['identity', 'gzip'] as const) {
    const { bytes, headers } = await getRawResponse(url, coding);
    const file = join(dir, coding);
    writeFileSync(file, bytes);
    sizes[coding] = bytes.length;
    answers.push({ path: `/${coding}`, file, headers });
  }
  const child = fork(join(import.meta.dirname, 'bare-http-server.ts'), [JSON.stringify(answers)]);
  const [bare] = (await once(child, 'message')) as [{ url: string }];
  return { child, url: bare.url, sizes };
}

async function compare(
  running: RunningProgram,
  baseline: { child: ChildProcess; url: string; sizes: Record<Coding, number> },
  { path, connections, seconds, coding }: Load & { coding: Coding },
): Promise<BenchmarkRow[]> {
  const cpu = { tocsin: [] as number[], baseline: [] as number[] };
  const measure = async (side: 'tocsin' | 'baseline'): Promise<number> => {
    const url = side === 'tocsin' ? `${running.url}${path}` : `${baseline.url}/${coding}`;
    const { perSecond, cpuMs } = await measureLoad(
      { url, headers: headersFor(coding), connections },
      side === 'tocsin' ? running.program.pid : baseline.child.pid!,
      seconds,
    );
    if (cpuMs !== undefined) cpu[side].push(cpuMs * 1000);
    return perSecond;
  };
  await measure('tocsin');
  await measure('baseline');
  cpu.tocsin.length = cpu.baseline.length = 0;
  const sides = { tocsin: () => measure('tocsin'), baseline: () => measure('baseline') };
  const result = await measureInTurn(rounds, { ...sides, better: 'more' });
  const label = `${coding === 'gzip' ? 'gzip' : 'plain'}, ${Math.round(baseline.sizes[coding] / 1024)} KiB`;
  const lines: BenchmarkRow[] = [{ label, unit: 'responses/s', ...result }];
  if (cpu.tocsin.length > 0) {
    const [tocsin, baselineCpu] = [median(cpu.tocsin), median(cpu.baseline)];
    const cpuLabel = `${label}: processor time of the server`;
    lines.push({ label: cpuLabel, unit: 'µs/response', tocsin, baseline: baselineCpu, share: baselineCpu / tocsin });
  }
  return lines;
}

export const listItemsBenchmark: Benchmark = {
  title: '`GET /items?perPage=100` against a bare `node:http` server that sends the same bytes',
  note: 'Besides sending, Tocsin routes the request, checks the key, and asks the database what the organization sees now, which selects the cached bytes, plain or compressed. That takes the same processor time for both forms, and about as much as sending the compressed one, so that its share stays below 80 %.',
  run: (report) =>
    withRunningProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1' }, async (running) => {
      report(`filling the feed with ${itemsMade} items`);
      await pullDocument(running.call, { kind: 'kev', name: 'bench' }, variedCatalogue(itemsMade));
      report('measuring');
      return withDataDir((dir) => compareCachedPages(dir, running));
    }),
};

/** Compares a cached response of the program with a bare HTTP server, plain and compressed. */
export async function compareCachedPages(
  dir: string,
  running: RunningProgram,
  load = itemsLoad,
): Promise<BenchmarkRow[]> {
  const baseline = await startBare(dir, running.url + load.path);
  try {
    return [
      ...(await compare(running, baseline, { ...load, coding: 'identity' })),
      ...(await compare(running, baseline, { ...load, coding: 'gzip' })),
    ];
  } finally {
    baseline.child.kill();
  }
}
