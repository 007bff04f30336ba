import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run-command.ts';
import {
  descendantsOf,
  listProcesses,
  newProgramDir,
  removeProgramDir,
  runProgram,
  startProgram,
  until,
  type Program,
} from '../support/program.ts';

const dirs: string[] = [];
const programs: Program[] = [];
function dataDirectory(): string {
  const dir = newProgramDir();
  dirs.push(dir);
  return dir;
}
async function start(dataDir: string, env: Record<string, string> = {}): Promise<Program> {
  const program = await startProgram(dataDir, env);
  programs.push(program);
  return program;
}
afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill('SIGKILL')));
  // An embedded server outlives a killed program. A command on its directory becomes its last user and stops it.
  const commands = listProcesses().map(({ command }) => command);
  const hasServer = programs.some((program) => commands.some((command) => command.includes(locationOf(program))));
  for (const dir of dirs) {
    if (hasServer && existsSync(dir)) await runProgram(['org', 'list'], dir);
    removeProgramDir(dir);
  }
});

const body = JSON.stringify({
  name: 'd',
  detectionCategory: 'custom',
  systemPrompt: 'p',
  detectionQuery: 'SELECT 1 AS n',
});

async function call(program: Program, key: string, path: string, method = 'GET'): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${program.url}${path}`, {
    method,
    headers,
    signal: AbortSignal.timeout(60_000),
    ...(method === 'POST' ? { body } : {}),
  });
}

async function detectionIds(program: Program, key: string): Promise<string[]> {
  const answer = (await (await call(program, key, '/api/detections')).json()) as { detections: { id: string }[] };
  return answer.detections.map(({ id }) => id);
}

const keyPattern = /tcs_[0-9a-f]+_\S+/;
const isAlive = (pid: number): boolean => listProcesses().some((row) => row.pid === pid);
/** Returns the directory of the embedded database, which the program prints when it starts. */
const locationOf = (program: Program): string => /database: (.+)$/m.exec(program.output())?.[1] ?? 'unknown';
/** Finds the server by its directory, because an adopted server is not a child of the program. */
const postmasterOf = (program: Program): number =>
  Number(readFileSync(join(locationOf(program), 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Shared by the tests with an embedded database, which run in this order. */
const dataDir = dataDirectory();

describe('with its own data directory', () => {
  let program: Program;
  let key: string;
  beforeAll(async () => {
    program = await start(dataDir);
    key = keyPattern.exec(program.output())?.[0] ?? '';
  });

  test('starts on an empty directory and prints the administrator key once', async () => {
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    expect(program.output().match(new RegExp(keyPattern, 'g'))).toHaveLength(1);
    expect((await call(program, key, '/api/detections')).status).toBe(200);
  });

  test('rejects a second start on the same directory with one sentence', async () => {
    const second = await runProgram(['all'], dataDir);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(dataDir);
    expect(second.stderr.trim().split('\n')).toHaveLength(1);
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
  });

  test('commands join the running server, and a new key works immediately', async () => {
    const org = await runProgram(['org', 'create', 'acme', '--json'], dataDir);
    expect(JSON.parse(org.stdout)).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'acme',
      tags: [],
    });
    const here = { TOCSIN_DATA_DIR: dataDir };
    const made = await runCommand(['key', 'create', '--org', 'acme', '--name', 'robot', '--json'], here);
    const answer = JSON.parse(made.out) as { id: string; key: string };
    expect(Object.keys(answer)).toEqual(['id', 'key']);
    expect((await call(program, answer.key, '/api/detections')).status).toBe(200);
    expect(await detectionIds(program, answer.key)).toEqual([]);
    expect(await runCommand(['org', 'create', 'acme'], here)).toEqual({
      code: 1,
      out: expect.stringContaining('acme'),
    });
  });

  test('tocsin source pull lists skipped records and fails if the source cannot be read', async () => {
    const list = join(dataDir, 'list.txt');
    writeFileSync(list, 'bad-cdn.top\nnothing of the kind\n');
    const source = (...args: string[]) => runCommand(['source', ...args], { TOCSIN_DATA_DIR: dataDir });
    const created = await source('create', '--kind', 'csv', '--name', 'List', '--url', `file://${list}`, '--json');
    const { id } = JSON.parse(created.out) as { id: string };
    const pulled = await source('pull', id);
    expect([pulled.code, pulled.out]).toEqual([0, expect.stringMatching(/^1 added, .*1 skipped\n {2}.*: .+\n$/)]);
    rmSync(list);
    const failed = await source('pull', id);
    expect([failed.code, failed.out]).toEqual([1, expect.stringMatching(/\nthe file does not exist\n$/)]);
    expect(await source('pull', 'nope')).toEqual({ code: 1, out: 'Source nope not found.\n' });
  });

  test('exits with 0 on SIGTERM, also a repeated one, and leaves no process', async () => {
    await call(program, key, '/api/detections', 'POST');
    const family = descendantsOf(program.pid).map(({ pid }) => pid);
    expect(family.length).toBeGreaterThan(0);
    void program.kill('SIGTERM');
    await sleep(20);
    expect(await program.kill('SIGTERM')).toBe(0);
    expect(family.filter(isAlive)).toEqual([]);
  });

  test('a later start prints no key and keeps the data', async () => {
    program = await start(dataDir);
    expect(program.output()).not.toMatch(keyPattern);
    expect(await detectionIds(program, key)).toHaveLength(1);
    expect(await program.kill('SIGINT')).toBe(0);
  });

  test('a command without a running program starts a server for its duration', async () => {
    const listed = await runProgram(['org', 'list', '--json'], dataDir);
    expect((JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      'acme',
      'default',
    ]);
    expect(listProcesses().filter(({ command }) => command.includes(locationOf(program)))).toEqual([]);
  });
});

test.each([
  [{ TOCSIN_API_KEY: 'too-short' }, /TOCSIN_API_KEY.*20 characters/],
  [{ PORT: 'eighty' }, /PORT: must be a whole number from 0 to 65535/],
  [{ DATABASE_URL: 'mysql://localhost/x' }, /DATABASE_URL/],
])('rejects the settings %o with a message', async (settings, message) => {
  const dataDir = dataDirectory();
  const { code, out } = await runCommand(['all'], { TOCSIN_DATA_DIR: dataDir, ...settings });
  expect([code, out]).toEqual([1, expect.stringMatching(message)]);
  removeProgramDir(dataDir);
});

test('starts no server with DATABASE_URL, and reports a port that is in use and a worker without the logs', async () => {
  const { url } = await testDatabase();
  const dataDir = dataDirectory();
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  const env = { DATABASE_URL: url };
  const refused = await runCommand(['all'], { TOCSIN_DATA_DIR: dataDir, ...env, PORT: String(port) });
  server.close();
  expect(refused).toEqual({ code: 1, out: expect.stringContaining(`Port ${port} is in use. Set PORT`) });
  const program = await start(dataDir, env);
  expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
  expect(descendantsOf(program.pid).filter(({ command }) => command.includes('postgres'))).toEqual([]);
  expect(existsSync(join(dataDir, 'pg'))).toBe(false);
  const elsewhere = dataDirectory();
  const worker = await runProgram(['work'], elsewhere, env);
  expect([worker.code, worker.stderr]).toEqual([1, expect.stringContaining('is not the log storage')]);
  expect(await program.kill('SIGTERM')).toBe(0);
  for (const dir of [dataDir, elsewhere]) removeProgramDir(dir);
});

describe('kill -9 while writes are acknowledged', () => {
  let key = 'a-key-for-the-crash-tests';
  const acknowledged: string[] = [];
  const refusals = new Set<number>();
  let program: Program;

  /** Starts four clients that create detections in sequence until stopped. A response of 200 is a promise. */
  function writeUntil(stopped: () => boolean): Promise<unknown> {
    const client = async (): Promise<void> => {
      while (!stopped()) {
        try {
          const answer = await call(program, key, '/api/detections', 'POST');
          const { id = '' } = (await answer.json()) as { id?: string };
          if (answer.status === 200) acknowledged.push(id);
          else refusals.add(answer.status);
        } catch {
          await sleep(50);
        }
      }
    };
    return Promise.all([1, 2, 3, 4].map(client));
  }

  const expectWritesKept = async (): Promise<void> => {
    const present = new Set(await detectionIds(program, key));
    expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
  };

  beforeAll(async () => {
    program = await start(dataDir, { TOCSIN_API_KEY: key });
  });

  test.each(['the program', 'the program and its server'])(
    'the next start after killing %s has every acknowledged write',
    async (victims) => {
      const before = acknowledged.length;
      let over = false;
      const writing = writeUntil(() => over);
      await until(
        () => acknowledged.length > before + 40,
        () => 'no write was acknowledged',
      );
      const postmaster = postmasterOf(program);
      const killed = program.kill('SIGKILL');
      if (victims !== 'the program') process.kill(postmaster, 'SIGKILL');
      await killed;
      over = true;
      await writing;
      // A changed TOCSIN_API_KEY replaces the key of the environment before it, and is never printed.
      const replaced = key;
      key = `a-key-after-the-end-of-${victims.replaceAll(' ', '-')}`;
      program = await start(dataDir, { TOCSIN_API_KEY: key });
      expect(program.output()).not.toContain(key);
      expect((await call(program, replaced, '/api/detections')).status).toBe(401);
      await expectWritesKept();
    },
  );

  test.each([
    ['killed', 'SIGKILL'],
    ['stopped', 'SIGINT'],
  ] as const)(
    'after the server alone %s, the service responds again within seconds with every acknowledged write',
    async (_, signal) => {
      let over = false;
      const writing = writeUntil(() => over);
      const before = acknowledged.length;
      await until(
        () => acknowledged.length > before + 20,
        () => 'no write was acknowledged',
      );
      process.kill(postmasterOf(program), signal);
      const atKill = acknowledged.length;
      await until(
        () => acknowledged.length > atKill + 20,
        () => `no write after the crash:\n${program.output()}`,
        program.hasEnded,
      );
      over = true;
      await writing;
      await expectWritesKept();
      expect([...refusals].filter((status) => status !== 503)).toEqual([]);
      expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    },
  );

  test('leaves no process when it stops', async () => {
    expect(await program.kill('SIGTERM')).toBe(0);
    expect(listProcesses().filter(({ command }) => command.includes(locationOf(program)))).toEqual([]);
  });
});

const oldNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((dir) => !dir.includes('node_modules'))
  .map((dir) => join(dir, 'node'))
  .find(
    (path) =>
      existsSync(path) &&
      Number(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')[0]) < 24,
  );
if (!oldNode) console.warn('No Node older than 24 is on the path: the test of its message is skipped.');

test.skipIf(!oldNode)('tells users of an older Node what to do in one sentence', async () => {
  const { code, stderr } = await runProgram(['all'], dataDirectory(), {}, oldNode);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Tocsin requires Node 24, but this is Node \d+\.\d+\.\d+\. .*npm start.*\n$/);
});
