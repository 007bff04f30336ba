import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { randomOf } from '../src/demo/company/random.ts';
import { catalogue, whileServing } from '../test/support/walk/fill-organization.ts';
import { alternate, median, type Figure, type Line } from './figure.ts';
import { load } from './load.ts';
import { apiKey, withDir, withProgram, type Running } from './place.ts';

const path = '/items?perPage=100';
const [itemsMade, rounds, seconds] = [5000, 5, 3];

/** Entries whose words differ as those of real ones do, so that packing them is real work. */
export function variedCatalogue(count: number): string {
  const random = randomOf('items');
  const letters = [...'etaoinshrdlucm'];
  const word = (): string => Array.from({ length: random.int(3, 9) }, () => random.pick(letters)).join('');
  const words = Array.from({ length: 800 }, word);
  const text = (length: number): string => Array.from({ length }, () => random.pick(words)).join(' ');
  const made = JSON.parse(catalogue('Northmere', count)) as { vulnerabilities: Record<string, unknown>[] };
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

/** What the program answers, byte for byte: fetch would unpack it. */
async function rawAnswer(url: string, coding: Coding): Promise<{ bytes: Buffer; headers: Record<string, string> }> {
  const request = get(`${url}${path}`, { headers: headersFor(coding) });
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
  running: Running,
): Promise<{ child: ChildProcess; url: string; sizes: Record<Coding, number> }> {
  const answers = [];
  const sizes = { identity: 0, gzip: 0 };
  for (const coding of ['identity', 'gzip'] as const) {
    const { bytes, headers } = await rawAnswer(running.url, coding);
    const file = join(dir, coding);
    writeFileSync(file, bytes);
    sizes[coding] = bytes.length;
    answers.push({ path: `/${coding}`, file, headers });
  }
  const child = fork(join(import.meta.dirname, 'bare-http.ts'), [JSON.stringify(answers)]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { child, url, sizes };
}

async function compare(
  running: Running,
  bare: { child: ChildProcess; url: string; sizes: Record<Coding, number> },
  coding: Coding,
): Promise<Line[]> {
  const cpu = { ours: [] as number[], bare: [] as number[] };
  const measure = async (side: 'ours' | 'bare'): Promise<number> => {
    const url = side === 'ours' ? `${running.url}${path}` : `${bare.url}/${coding}`;
    const { perSecond, cpuMs } = await load(
      { url, headers: headersFor(coding) },
      side === 'ours' ? running.program.pid : bare.child.pid!,
      seconds,
    );
    if (cpuMs !== undefined) cpu[side].push(cpuMs * 1000);
    return perSecond;
  };
  await measure('ours');
  await measure('bare');
  cpu.ours.length = cpu.bare.length = 0;
  const found = await alternate(rounds, { ours: () => measure('ours'), bare: () => measure('bare'), better: 'more' });
  const what = `${coding === 'gzip' ? 'gzip' : 'plain'}, ${Math.round(bare.sizes[coding] / 1024)} KiB`;
  const lines: Line[] = [{ what, unit: 'answers/s', ...found }];
  if (cpu.ours.length > 0) {
    const [ours, bareCpu] = [median(cpu.ours), median(cpu.bare)];
    lines.push({
      what: `${what}: processor time of the server`,
      unit: 'µs/answer',
      ours,
      bare: bareCpu,
      share: bareCpu / ours,
    });
  }
  return lines;
}

export const items: Figure = {
  title: '`GET /items?perPage=100` against a bare `node:http` that answers the same bytes',
  run: (say) =>
    withProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1' }, async (running) => {
      say(`filling the feed with ${itemsMade} items`);
      await whileServing(variedCatalogue(itemsMade), async (url) => {
        const source = (await running.call('POST', '/api/feed/sources', { kind: 'kev', name: 'bench', url })) as {
          id: string;
        };
        await running.call('POST', `/api/feed/sources/${source.id}/pull`);
      });
      say('measuring');
      return withDir((dir) => compareHot(dir, running));
    }),
};

/** The program's answers out of memory beside those of a bare server, plain and packed. */
export async function compareHot(dir: string, running: Running): Promise<Line[]> {
  const bare = await startBare(dir, running);
  try {
    return [...(await compare(running, bare, 'identity')), ...(await compare(running, bare, 'gzip'))];
  } finally {
    bare.child.kill();
  }
}
