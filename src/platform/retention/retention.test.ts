import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { adminEnv, adminKey } from '../../../test/support/admin-key.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { acrossOrgs, inOrg, queryRows } from '../db/db.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { createRetentionSteps } from '../../app/worker/worker-loops.ts';
import { applyRetention } from './retention.ts';

const start = Date.UTC(2026, 2, 2);
const dayMs = 86_400_000;
const time = { now: new Date(start) };
const { app, deps, dataDir, newOrg } = await startApp({ clock: () => time.now, env: adminEnv });
const at = (hours: number): Date => new Date(start + hours * 3_600_000);

async function expectOk(response: ReturnType<TestOrg['call']>) {
  const { status, body } = await response;
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const user = 'zoë"\\o’hara@example.org';
const other = 'bob@example.org';

/** Creates an organization with one hour of two people's events and hits of two detections. */
async function createOrgWithHits(): Promise<TestOrg> {
  time.now = at(0);
  const org = await newOrg();
  for (const category of ['custom', 'baseline_anomaly'])
    await expectOk(
      org.call('POST', '/api/detections', {
        name: category,
        detectionCategory: category,
        systemPrompt: 'p',
        detectionQuery: 'SELECT _id, _time, actor.name AS "user", action FROM acts',
        entityField: 'user',
        detectionCadence: 'hourly',
      }),
    );
  time.now = at(0.5);
  const events = [
    {
      _id: 'event-of-the-first-one',
      '@timestamp': at(0.5),
      actor: { name: user },
      action: `mail to ${user} sent`,
      url: `/u/${user}`,
    },
    { _id: 'event-of-the-other-one', '@timestamp': at(0.5), actor: { name: other }, action: 'mail' },
  ];
  await expectOk(org.call('POST', '/api/logs/acts', events.map((event) => JSON.stringify(event)).join('\n')));
  await executeDueRuns(deps, at(1));
  time.now = at(1);
  return org;
}

/** Returns all text of an organization in the database. */
async function readAllText(org: TestOrg): Promise<string> {
  const tables = await acrossOrgs(
    deps.db,
    (tx) =>
      queryRows<{ name: string }>(tx)`select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'organization_id'`,
  );
  const text = await inOrg(deps.db, org.id, async (tx) => {
    const texts: unknown[] = [];
    for (const { name } of tables)
      texts.push(await queryRows(tx)`select * from ${sql.table(name)} where organization_id = ${org.id}`);
    return texts;
  });
  return JSON.stringify(text);
}

test('erases a value from logs and derived data, and keeps everything else', async () => {
  const org = await createOrgWithHits();
  const stranger = await createOrgWithHits();
  const { hits } = await expectOk(org.call('GET', '/api/hits'));
  expect(hits.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual([other, user]);
  await expectOk(
    org.call('POST', `/api/detections/${hits[0].detectionId}/exceptions`, { entity: user, reason: 'is on leave' }),
  );
  await expectOk(
    org.call('PUT', `/api/detections/${hits[0].detectionId}/tests`, {
      tests: [{ name: 't', events: [{ actor: { name: user } }], expect: [user] }],
    }),
  );
  const erasure = await expectOk(org.call('POST', '/api/privacy/erase', { field: 'actor.name', value: user }));
  expect(erasure).toEqual({
    logs: 1,
    hits: 1,
    rows: 1,
    runs: 1,
    steps: 7,
    memory: 2,
    outbox: 0,
    exceptions: 1,
    tests: 1,
    notes: 0,
    valueLists: 0,
    skills: 0,
  });
  for (const spelling of ['hara@example.org', 'zoë']) expect(await readAllText(org)).not.toContain(spelling);
  expect(await readAllText(stranger)).toContain('hara@example.org');
  expect(await readAllText(org)).toContain(other);
  const folder = join(dataDir, 'logs', org.id, 'acts');
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes('hara@')).toBe(false);
  const preview = await expectOk(
    org.call('POST', '/api/detections/preview', {
      name: 'n',
      detectionCategory: 'custom',
      systemPrompt: 'p',
      detectionQuery: 'SELECT _id, action, url FROM acts',
      from: at(0),
      to: at(1),
    }),
  );
  expect(preview.rowsTotal).toBe(2);
  expect(JSON.stringify(preview.candidates)).toContain('mail to [erased] sent');
  const { entries } = await expectOk(org.call('GET', '/api/audit'));
  expect(entries[0]).toMatchObject({ action: 'privacy.erased', after: { field: 'actor.name', logs: 1 } });
  expect(await expectOk(org.call('POST', '/api/privacy/erase', { field: 'actor.name', value: user }))).toMatchObject({
    logs: 0,
    hits: 0,
  });
  const short = await org.call('POST', '/api/privacy/erase', { field: 'a', value: 'xy' });
  expect([short.status, short.body.errors[0].pointer]).toEqual([400, '/value']);
});

test('reports the retention periods to readers of detections', async () => {
  const org = await newOrg();
  const { key } = await expectOk(org.call('POST', '/api/keys', { name: 'reader', scopes: ['detections:read'] }));
  const read = (bearer: string) =>
    app.inject({ url: '/api/privacy/retention', headers: { authorization: `Bearer ${bearer}` } });
  expect((await read(key)).json()).toMatchObject({ ...deps.config.keep, allowed: deps.config.keep, updatedAt: null });
  expect((await read('nobody')).statusCode).toBe(401);
});

test('deletes each kind of data when its retention period ends', async () => {
  const org = await createOrgWithHits();
  await inOrg(deps.db, org.id, async (tx) => {
    await sql`insert into run_steps (organization_id, run_id, attempt, n, at, body) values (${org.id}, ${org.id}, 1, 1, ${at(1)}, 'b')`.execute(
      tx,
    );
    await sql`update candidates set hit_id = null where entity = ${other}`.execute(tx);
    await sql`insert into gaps (organization_id, id, detection_id, gap_from, gap_to, reason, created_at, updated_at)
      select organization_id, id, detection_id, ${at(0)}, ${at(1)}, 'late', ${at(1)}, ${at(1)} from runs limit 1`.execute(
      tx,
    );
  });
  const countAfter = async (days: number) => {
    time.now = new Date(at(1).getTime() + days * dayMs);
    await applyRetention(deps, createRetentionSteps(deps.config.keep));
    const [found] = await inOrg(
      deps.db,
      org.id,
      (tx) =>
        queryRows<Record<string, unknown>>(
          tx,
        )`select (select count(*) from candidates) as rows, (select count(*) from run_steps) as steps,
          (select count(*) from segments where replaced_at is null) as logs,
          (select state from gaps) as gap, (select count(*) from hits) as hits, (select count(*) from runs) as runs,
          (select count(*) from memory) as memory, (select count(*) > 0 from run_days) as days`,
    );
    return Object.values(found!);
  };
  // The built-in analyst left 14 steps of runs with a hit.
  expect(await countAfter(6)).toEqual([2, 15, 1, 'open', 2, 2, 4, true]);
  expect(await countAfter(8)).toEqual([2, 15, 1, 'open', 2, 2, 4, true]);
  expect(await countAfter(31)).toEqual([1, 14, 1, 'open', 2, 2, 4, true]);
  expect(await countAfter(91)).toEqual([1, 14, 0, 'expired', 2, 2, 4, true]);
  expect(await countAfter(191)).toEqual([1, 14, 0, 'expired', 2, 2, 0, true]);
  expect(await countAfter(366)).toEqual([0, 14, 0, 'expired', 0, 2, 0, true]);
  expect(await countAfter(401)).toEqual([0, 0, 0, 'expired', 0, 0, 0, true]);
  expect((await expectOk(org.call('GET', '/api/detections'))).detections).toHaveLength(2);
});

async function administer(method: 'GET' | 'PUT', id: string, payload?: object, headers = {}) {
  const url = `/api/admin/organizations/${id}/retention`;
  const authorization = `Bearer ${adminKey}`;
  const response = await app.inject({
    method,
    url,
    headers: { authorization, ...headers },
    ...(payload && { payload }),
  });
  return { status: response.statusCode, body: response.json(), etag: String(response.headers['etag']) };
}

test('an organization chooses a retention within what the operator allows', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const first = await administer('PUT', org.id, { logsDays: 400, hitsDays: 100 });
  expect(first.body).toMatchObject({ logsDays: 400, hitsDays: 100, rowsDays: 30, allowed: { logsDays: 400 } });
  const choose = (body: object, headers = {}) => org.call('PUT', '/api/privacy/retention', body, headers);
  const chosen = await choose({ logsDays: 200 }, { 'if-match': first.etag });
  expect(chosen.body).toMatchObject({ logsDays: 200, hitsDays: 100, own: { logsDays: 200, hitsDays: null } });
  expect((await choose({ logsDays: 100 }, { 'if-match': first.etag })).status).toBe(412);
  expect(await choose({ hitsDays: 101 })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/hitsDays', detail: expect.stringContaining('allows 100 days') }] },
  });
  for (const body of [{ runsDays: 30 }, { logsDays: 0 }, { auditDays: 40 }])
    expect((await choose(body)).status).toBe(400);
  // A lower maximum applies immediately. A higher one brings the choice back.
  expect((await administer('PUT', org.id, { logsDays: 50 })).body).toMatchObject({
    logsDays: 50,
    own: { logsDays: 200 },
  });
  expect((await administer('PUT', org.id, { logsDays: null })).body).toMatchObject({ logsDays: 90 });
  expect((await choose({ logsDays: null })).body.own.logsDays).toBeNull();
  expect((await administer('GET', other.id)).body).toMatchObject({ ...deps.config.keep, updatedAt: null });
  expect((await org.call('PUT', `/api/admin/organizations/${org.id}/retention`, { logsDays: 1 })).status).toBe(403);
  const { entries } = await expectOk(org.call('GET', '/api/audit?action=organization.retention'));
  expect(entries.map(({ action }: { action: string }) => action.split('_')[1]).toSorted()).toEqual([
    'changed',
    'changed',
    'limited',
    'limited',
    'limited',
  ]);
});

test('deletes the data of each organization when its own retention ends', async () => {
  const [short, long, usual] = [await createOrgWithHits(), await createOrgWithHits(), await createOrgWithHits()];
  await administer('PUT', short.id, { logsDays: 10, hitsDays: 10, runsDays: 40 });
  await administer('PUT', long.id, { logsDays: 500, hitsDays: 500, runsDays: 500 });
  const countAfter = async (days: number) => {
    time.now = new Date(at(1).getTime() + days * dayMs);
    await applyRetention(deps, createRetentionSteps(deps.config.keep));
    const counts = [short, long, usual].map(async ({ id }) => {
      const [row] = await inOrg(
        deps.db,
        id,
        (tx) => queryRows<Record<string, number>>(tx)`select
        (select count(*) from segments where replaced_at is null) as logs, (select count(*) from hits) as hits, (select count(*) from runs) as runs`,
      );
      return Object.values(row!).join(' ');
    });
    return Promise.all(counts);
  };
  expect(await countAfter(9)).toEqual(['1 2 2', '1 2 2', '1 2 2']);
  expect(await countAfter(11)).toEqual(['0 0 2', '1 2 2', '1 2 2']);
  expect(await countAfter(41)).toEqual(['0 0 0', '1 2 2', '1 2 2']);
  expect(await countAfter(401)).toEqual(['0 0 0', '1 2 2', '0 0 0']);
  expect(await countAfter(501)).toEqual(['0 0 0', '0 0 0', '0 0 0']);
});
