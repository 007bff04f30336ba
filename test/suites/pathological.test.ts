import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { createCaller, createOrganizationWithKey, pullDocument, type ApiCall } from '../support/api-client.ts';
import { kevCatalogWith } from '../support/feed/kev-document.ts';
import {
  descendantsOf,
  listProcesses,
  newProgramDir,
  removeProgramDir,
  startProgram,
  until,
  type Program,
} from '../support/program.ts';

// Each query keeps an engine thread busy for much longer than this test and reacts to an interrupt late or never.
const pathological = [
  "SELECT levenshtein(repeat('ab', 100000), repeat('ba', 100000)) AS n FROM signins",
  'SELECT count(*) AS n FROM range(10000000) a, range(10000000) b, signins WHERE hash(a.range + b.range) = 1',
];

const { db, url } = await testDatabase();
const dataDir = newProgramDir();
const programs: Program[] = [];
afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill('SIGKILL')));
  removeProgramDir(dataDir);
});

/** Creates a detection with the query, requests a run and returns a function that reads the run. */
async function runNow(call: ApiCall, query: string): Promise<() => Promise<string>> {
  const now = Date.now();
  await call('POST', '/api/logs/signins', [{ timestamp: new Date(now).toISOString(), user: 'ada' }]);
  const input = { name: 'slow', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: query };
  const { id } = await call('POST', '/api/detections', input);
  const range = { from: new Date(now - 60_000).toISOString(), to: new Date(now + 60_000).toISOString() };
  const { runId } = await call('POST', `/api/detections/${id}/run`, range);
  return async () => (await call('GET', `/api/runs/${runId}`)).status;
}

test('/readyz and a gzipped /items answer while two pathological queries run, and SIGTERM ends everything', async () => {
  const organizations = ['a', 'b'].map((name) => createOrganizationWithKey({ db }, name));
  const keys = (await Promise.all(organizations)).map(({ key }) => key);
  const env = { DATABASE_URL: url, TOCSIN_RUNS_AT_ONCE: '2', TOCSIN_FETCH_ALLOW: '127.0.0.1' };
  const program = await startProgram(dataDir, env);
  programs.push(program);
  const call = createCaller(program.url, keys[0]!);
  await pullDocument(call, { kind: 'kev', name: 'feed' }, kevCatalogWith('entry', 150));
  const items = await fetch(`${program.url}/items?perPage=100`, {
    headers: { authorization: `Bearer ${keys[0]}`, 'accept-encoding': 'gzip' },
  });
  expect([items.headers.get('content-encoding'), ((await items.json()) as { total: number }).total]).toEqual([
    'gzip',
    150,
  ]);

  const runs = await Promise.all(
    pathological.map((query, index) => runNow(createCaller(program.url, keys[index]!), query)),
  );
  const engines = (): number =>
    descendantsOf(program.pid).filter(({ command }) => command.includes('engine/process/child')).length;
  const statuses = (): Promise<string[]> => Promise.all(runs.map((status) => status()));
  const allRun = async (): Promise<boolean> =>
    engines() === 2 && (await statuses()).every((status) => status === 'running');
  await until(allRun, () => 'the queries do not run at once');
  // A program that waits for its engine (a blocked event loop, a starved pool) answers only after a query has ended.
  for (const path of ['/readyz', '/items?perPage=100'])
    for (let n = 0; n < 10; n += 1) {
      const headers = { authorization: `Bearer ${keys[0]}`, 'accept-encoding': 'gzip' };
      const answer = await fetch(`${program.url}${path}`, { headers });
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
    }
  expect(await statuses()).toEqual(['running', 'running']);

  const family = descendantsOf(program.pid).map(({ pid }) => pid);
  expect(await program.kill('SIGTERM')).toBe(0);
  const left = listProcesses().filter(({ pid }) => family.includes(pid));
  expect(left).toEqual([]);
});
