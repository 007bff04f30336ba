import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSettings } from '../scripts/readme-settings.ts';
import { newProgramDir, root, until } from './program.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

test('the table of settings is the one that the settings give (npm run generate writes it)', () => {
  expect(withSettings(readme)).toBe(readme);
});

test('every file and script that it names is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, name = ''] of readme.matchAll(/npm run (?:--silent )?([\w:-]+)/g)) expect(scripts).toHaveProperty(name);
  for (const [, path = ''] of readme.matchAll(/\]\((?!http|#)([^)#]+)/g))
    expect(() => readFileSync(join(root, path)), path).not.toThrow(/ENOENT/);
});

/** The blocks that are marked to be run, with a port of this test's own. */
function blocks(mark: string, port: number): string[] {
  const found = [...readme.matchAll(/<!-- (run(?:: start)?) -->\n```sh\n([\s\S]*?)```/g)];
  return found.filter(([, own]) => own === mark).map(([, , text = '']) => text.replaceAll(':8080', `:${port}`));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as { port: number };
  await new Promise((done) => {
    server.close(done);
  });
  return port;
}

type Json = ReturnType<typeof JSON.parse>;

/** curl ends an answer without a line end. */
const jsonValues = (text: string): Json[] =>
  text
    .trim()
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line));

describe('its blocks, pasted in order', () => {
  const dir = newProgramDir();
  let shell: ChildProcess | undefined;
  let port = 0;
  let script: string[] = [];
  let answers: Json[][] = [];

  beforeAll(async () => {
    port = await freePort();
    const env = {
      ...process.env,
      PORT: String(port),
      TOCSIN_DATA_DIR: dir,
      TOCSIN_LOG_LEVEL: 'error',
      DATABASE_URL: '',
    };
    // npm is a child of the shell and the program one of npm, as in a terminal: they are ended as a group.
    const started = spawn('bash', ['-c', blocks('run: start', port).join('\n')], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    shell = started;
    let output = '';
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true;
    const failure = (): string => `npm start does not come up:\n${output}`;
    await until(isReady, failure, () => started.exitCode !== null);
    script = blocks('run', port);
    const separated = script.map((block, index) => `echo '========= ${index}'\n${block}`).join('\n');
    const pasted = ['-euo', 'pipefail', '-c', separated];
    const { stdout } = await promisify(execFile)('bash', pasted, { cwd: dir, env: { ...env, TOCSIN_API_KEY: '' } });
    answers = stdout
      .split(/={9} \d+\n/)
      .slice(1)
      .map(jsonValues);
  });

  afterAll(async () => {
    if (shell?.pid !== undefined && shell.exitCode === null) {
      const ended = once(shell, 'close');
      process.kill(-shell.pid, 'SIGTERM');
      await ended;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  test('there are blocks, and each answer is a success', () => {
    expect(script.length).toBeGreaterThan(7);
    const flat = answers.flat();
    expect(flat.length).toBeGreaterThanOrEqual(script.join('').split('curl ').length - 1);
    for (const answer of flat) expect(answer).not.toHaveProperty('requestId');
  });

  test('they show the record through its life', () => {
    const [[ready], [created], [list], [updated], [deleted, restored], [dismissed]] = answers as Json[][] &
      [Json[], Json[], Json[], Json[], Json[], Json[]];
    expect(ready.status).toBe('ok');
    expect(created).toMatchObject({ agentType: 'detection', cronSchedule: '0 * * * *', enabled: true });
    expect(list).toEqual({ detections: [created] });
    expect(updated).toMatchObject({
      id: created.id,
      tags: ['attack.t1078', 'identity'],
      cronSchedule: '15 * * * *',
      name: created.name,
    });
    expect(deleted.deletedAt).not.toBeNull();
    expect(restored).toMatchObject({ id: created.id, deletedAt: null, enabled: true });
    expect(dismissed).toEqual({ suggestions: [] });
  });

  test('they show the feed', () => {
    const [items, stats] = answers[6]!;
    expect(items).toMatchObject({ items: [], total: 0, page: 1, perPage: 5, hasNext: false });
    expect(stats).toMatchObject({ totalItems: 0, severityBreakdown: { critical: 0 } });
  });

  test('the logs that they send are found by the run that they ask for', async () => {
    const [receipt, run, runs, hits] = answers[7]!;
    expect(receipt).toMatchObject({ accepted: 1, rejected: [] });
    expect(runs.runs.map(({ id }: { id: string }) => id)).toContain(run.runId);
    expect(hits).toHaveProperty('hits');
    const get = async (path: string): Promise<Json> =>
      (
        await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { authorization: 'Bearer choose-a-long-random-key' },
        })
      ).json();
    // The README waits three seconds, which a machine that does other things at the same time may exceed.
    const finished = await until(
      async () => {
        const found = await get(`/api/runs/${run.runId}`);
        return found.status === 'completed' || found.status === 'failed' ? found : undefined;
      },
      () => 'the run does not end',
    );
    expect(finished).toMatchObject({ status: 'completed', rowsTotal: 1, triggered: true, hitCount: 1, failure: null });
    const [hit] = (await get('/api/hits')).hits;
    expect(hit).toMatchObject({
      entity: 'ada',
      status: 'open',
      evidence: expect.arrayContaining([expect.objectContaining({ field: 'user', value: 'ada' })]),
    });
  });
});
