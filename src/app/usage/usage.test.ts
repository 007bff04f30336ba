import { expect, test } from 'vitest';
import { adminEnv, adminKey } from '../../../test/support/admin-key.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { inOrg, openDb } from '../../platform/db/db.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { countUsage } from '../../platform/models/model-usage.store.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { withFeedItems, withQueryTime, createUsageCounter } from './usage-counter.ts';
import { measureStoredLogs } from './usage-loops.ts';

const time = { now: new Date('2026-03-02T10:00:00Z') };
const { app, deps, url, dataDir, newOrg } = await startApp({ env: adminEnv, clock: () => time.now });
const ask = async (path: string, key = adminKey) => {
  const { statusCode, body, headers } = await app.inject({ url: path, headers: { authorization: `Bearer ${key}` } });
  return { status: statusCode, body, type: headers['content-type'] };
};
const daysOf = async ({ id }: TestOrg, query = '') =>
  JSON.parse((await ask(`/api/admin/organizations/${id}/usage${query}`)).body).days;

async function useOrganization(): Promise<TestOrg> {
  time.now = new Date('2026-03-02T10:00:00Z');
  const org = await newOrg();
  const detection = { detectionCategory: 'custom', detectionCadence: 'hourly', systemPrompt: 'p' };
  await callOk(org, 'POST', '/api/detections', { ...detection, name: 'n', detectionQuery: 'select "user" from auth' });
  time.now = new Date('2026-03-02T10:30:00Z');
  const body = '{"user":"ada"}\n{"user":"bo"}';
  await callOk(org, 'POST', '/api/logs/auth', body);
  await callOk(org, 'POST', '/api/logs/auth', body);
  await measureStoredLogs(deps);
  time.now = new Date('2026-03-03T00:10:00Z');
  await callOk(org, 'POST', '/api/logs/auth', '{"user":"cy"}');
  const observeRun = withQueryTime(() => undefined, deps.usage);
  await executeDueRuns({ ...deps, observeRun } as never, time.now);
  const spender = { orgId: org.id, detectionId: org.id };
  await inOrg(deps.db, org.id, (tx) =>
    countUsage(tx, spender, { alias: 'm', calls: 1, tokens: 70, costUsd: 0.25 }, time.now),
  );
  const result = { added: 3, corrected: 1 } as never;
  withFeedItems(() => undefined, deps.usage)({ kind: 'rss', organization_id: org.id }, result);
  await deps.usage.flush();
  return org;
}

test('counts what an organization used by UTC day, and of no other', async () => {
  const org = await useOrganization();
  const other = await newOrg();
  const days = await daysOf(org, '?from=2026-03-01&to=2026-03-03');
  const none = { logEvents: 0, logBytes: 0, logBytesStored: 0, runs: 0, querySeconds: 0, modelTokens: 0, modelCostUsd: 0, feedItems: 0, requests: 0, refusedRequests: 0 }; // prettier-ignore
  expect(days).toMatchObject([
    { ...none, day: '2026-03-01' },
    // The repetition of the body counts as a request, not as events.
    { day: '2026-03-02', logEvents: 2, requests: 3, modelTokens: 0 },
    { day: '2026-03-03', logEvents: 1, requests: 1, modelTokens: 70, modelCostUsd: 0.25, feedItems: 4 },
  ]);
  expect(days[1].logBytes).toBeGreaterThan(30);
  expect(days[1].logBytesStored).toBe(days[1].logBytes);
  expect(days[2].runs).toBeGreaterThan(0);
  expect(days[2].querySeconds).toBeGreaterThan(0);
  expect(await daysOf(other, '?from=2026-03-02&to=2026-03-02')).toEqual([{ ...none, day: '2026-03-02' }]);
  expect(await daysOf(other)).toHaveLength(30);
  expect(await callOk(org, 'GET', '/api/usage?from=2026-03-01&to=2026-03-03')).toMatchObject({ days });
  expect(await callOk(other, 'GET', '/api/usage?from=2026-03-02&to=2026-03-02')).toMatchObject({ days: [none] });
  expect((await ask(`/api/admin/organizations/${org.id}/usage`, org.key)).status).toBe(403);

  const csv = await ask('/api/admin/usage?from=2026-03-02&to=2026-03-03&format=csv');
  expect(csv.type).toContain('text/csv');
  const [head, ...lines] = csv.body.trim().split('\n');
  expect(head).toBe(`organizationId,organization,${Object.keys(days[0]).join(',')}`);
  expect(lines).toContain(`${org.id},${org.name},${Object.values(days[2]).join(',')}`);
  const ndjson = (await ask('/api/admin/usage?from=2026-03-03&to=2026-03-03')).body.trim().split('\n');
  expect(ndjson.map((line) => JSON.parse(line))).toContainEqual({
    organizationId: org.id,
    organization: org.name,
    ...days[2],
  });
  const printed = await runCommand(['org', 'usage', org.name, '--days', '3', '--json'], { DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir }); // prettier-ignore
  expect([printed.code, printed.out.trim().split('\n')]).toEqual([0, expect.arrayContaining([expect.stringContaining(org.name)])]); // prettier-ignore
  expect((await runCommand(['org', 'usage', '--days', '0'], { DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir })).code).toBe(2); // prettier-ignore
});

test.each([
  ['from=2026-03-05&to=2026-03-01', 'query/from'],
  ['from=2024-01-01&to=2026-03-01', 'query/from'],
  ['to=2026-02-30', 'query/to'],
  ['to=yesterday', 'query/to'],
  ['format=xml', 'query/format'],
])('refuses the range %s', async (query, pointer) => {
  const { status, body } = await ask(`/api/admin/usage?${query}`);
  expect([status, JSON.parse(body).errors[0].pointer]).toEqual([400, pointer]);
});

test('measures the stored logs of every organization in steps, and not again while another process has just done it', async () => {
  time.now = new Date('2026-03-04T10:00:00Z');
  const orgs = [await newOrg(), await newOrg(), await newOrg()];
  const send = (org: TestOrg) => callOk(org, 'POST', '/api/logs/auth', '{"user":"ada"}');
  for (const org of orgs) await send(org);
  const readBytes = () => Promise.all(orgs.map(async (org) => (await daysOf(org)).at(-1).logBytesStored));
  expect(await readBytes()).toEqual([0, 0, 0]);
  await measureStoredLogs(deps, undefined, 1);
  const measured = await readBytes();
  for (const bytes of measured) expect(bytes).toBeGreaterThan(0);
  await callOk(orgs[0]!, 'POST', '/api/logs/auth', '{"user":"bo"}');
  await measureStoredLogs(deps);
  expect(await readBytes()).toEqual(measured);
});

test('processes that count at the same time lose nothing, and one without a database goes on', async () => {
  const org = await newOrg();
  const counters = [1, 2, 3].map(() => createUsageCounter(deps));
  for (let round = 0; round < 10; round += 1) {
    for (const counter of counters) counter.add(org.id, { requests: 1 });
    await Promise.all(counters.map((counter) => counter.flush()));
  }
  for (const counter of counters) await counter.stop();
  // A database that does not answer.
  const broken = createUsageCounter({
    ...deps,
    db: openDb('postgres://127.0.0.1:1/none'),
    log: createLogger('silent'),
  });
  broken.add(org.id, { requests: 5 });
  await broken.stop();
  expect((await daysOf(org)).at(-1)).toMatchObject({ requests: 30 });
});
