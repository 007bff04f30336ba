import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { callOk, postDetection, postSuggestion, toIds } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });

type HitInput = { detectionId: string; at?: string; status?: string; severity?: string };
const insertHit = (
  org: TestOrg,
  { detectionId, at = now.toISOString(), status = 'open', severity = 'low' }: HitInput,
) =>
  inOrg(deps.db, org.id, (tx) =>
    sql`insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        evidence, rows, facts, status, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
      values (${org.id}, ${uuidv7()}, ${detectionId}, ${uuidv7()}, 'ada', 'user', 'custom', ${severity}, 50, 'h', 's', 'n', '[]', '[]', '{}', ${status},
        ${at}, ${at}, ${at}, ${at}, ${at}, ${at})`.execute(tx),
  );
const write = (org: TestOrg, statement: ReturnType<typeof sql>) =>
  inOrg(deps.db, org.id, (tx) => statement.execute(tx));

/** Reads all pages of two detections each. */
async function readAll(org: TestOrg, query: string) {
  const found: Record<string, unknown>[] = [];
  let cursor = '';
  do {
    const page = await callOk(org, 'GET', `/api/detections/summaries?limit=2&${query}${cursor && `&cursor=${cursor}`}`);
    found.push(...page.detections);
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  return found as { id: string; name: string; health: string }[];
}

test('lists hits per day, open hits and reviews, and nothing of suggestions and deleted detections', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org, { name: 'One', detectionCadence: 'hourly' });
  const deleted = await postDetection(org);
  await callOk(org, 'DELETE', `/api/detections/${deleted.id}`);
  await postSuggestion(org);
  await insertHit(org, { detectionId: id, severity: 'high' });
  await insertHit(org, { detectionId: id, at: '2026-03-03T23:59:59.999Z' });
  await insertHit(org, { detectionId: id, at: '2026-02-03T00:00:00.000Z', status: 'benign', severity: 'critical' });
  await insertHit(org, { detectionId: id, at: '2026-02-02T23:59:59.999Z', status: 'benign' });
  await write(org, sql`insert into hit_reviews values (${org.id}, ${id}, 2, 1, 0)`);
  await write(org, sql`insert into run_days values (${org.id}, ${id}, '2026-03-04', '', 5, 1, 0, 0)`);
  const { from, total, detections, nextCursor } = await callOk(org, 'GET', '/api/detections/summaries');
  expect([from, total, nextCursor]).toEqual(['2026-02-03', 1, null]);
  expect(detections).toMatchObject([
    {
      id,
      name: 'One',
      health: 'healthy',
      severity: 'high',
      openHits: 2,
      newHits30d: 3,
      runs30d: 5,
      reviewed: 3,
      precision: 0.667,
      nextRunAt: '2026-03-04T11:00:00.000Z',
      lastRunAt: null,
    },
  ]);
  expect(detections[0].hitsByDay).toEqual([1, ...Array.from({ length: 27 }, () => 0), 1, 1]);
  const { days } = await callOk(org, 'GET', `/api/detections/${id}/days?days=2`);
  expect(days).toMatchObject([
    { day: '2026-03-03', runs: 0, hits: 1 },
    { day: '2026-03-04', runs: 5, triggered: 1, hits: 1 },
  ]);
});

describe('the order', () => {
  test('of each sort is total, and pages continue in it', async () => {
    const org = await newOrg();
    const ids: string[] = [];
    for (const name of ['b', 'A', 'c', 'B', 'd']) {
      ids.push((await postDetection(org, { name, ...(name === 'c' ? { detectionCadence: 'daily' } : {}) })).id);
      now = new Date(now.getTime() + 1000);
    }
    for (const [n, id] of ids.entries())
      for (let i = 0; i < n % 3; i++) await insertHit(org, { detectionId: id, status: i === 0 ? 'open' : 'benign' });
    await write(
      org,
      sql`insert into hit_reviews values (${org.id}, ${ids[2]!}, 1, 0, 0), (${org.id}, ${ids[3]!}, 0, 1, 0)`,
    );
    await write(
      org,
      sql`insert into run_facts values (${org.id}, ${ids[1]!}, now()), (${org.id}, ${ids[4]!}, now() - interval '1 h')`,
    );
    for (const sort of ['createdAt', 'name', 'lastRunAt', 'nextRunAt', 'newHits30d', 'openHits', 'precision']) {
      const [up, down] = [await readAll(org, `sort=${sort}`), await readAll(org, `sort=-${sort}`)];
      expect(toIds(up).toSorted(), sort).toEqual(ids.toSorted());
      expect(toIds(up), sort).toEqual(toIds(down).toReversed());
    }
    expect(toIds(await readAll(org, ''))).toEqual(ids.toReversed());
    expect((await readAll(org, 'sort=name')).map(({ name }) => name.toLowerCase())).toEqual(['a', 'b', 'b', 'c', 'd']);
    expect((await readAll(org, 'sort=-lastRunAt'))[0]!.id).toBe(ids[1]);
    expect((await readAll(org, 'sort=-precision'))[0]!.id).toBe(ids[2]);
    expect((await readAll(org, 'sort=-nextRunAt'))[0]!.id).toBe(ids[2]);
  });

  test.each([
    ['sort=health', 'query/sort'],
    ['health=well', 'query/health'],
    ['cursor=x', 'query/cursor'],
    ['limit=201', 'query/limit'],
    ['sorted=name', 'query/sorted'],
  ])('rejects ?%s at %s', async (query, pointer) => {
    const { status, body } = await (await newOrg()).call('GET', `/api/detections/summaries?${query}`);
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('rejects the cursor of another sort', async () => {
    const org = await newOrg();
    for (let n = 0; n < 2; n++) await postDetection(org);
    const { nextCursor } = await callOk(org, 'GET', '/api/detections/summaries?limit=1');
    const { status } = await org.call('GET', `/api/detections/summaries?sort=name&cursor=${nextCursor}`);
    expect(status).toBe(400);
  });
});

test('warns of a detection whose SIEM has no connection', async () => {
  const org = await newOrg();
  await postDetection(org, { siemType: 'splunk', detectionCadence: 'hourly' });
  expect(await readAll(org, '')).toMatchObject([{ health: 'warning' }]);
});

test('decides the health from the schedule, windows, gaps and warnings, the most urgent first', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org, { detectionCadence: 'hourly' });
  const health = async () => (await readAll(org, ''))[0]!.health;
  const window = sql`${org.id}, ${id}, '2026-03-01', '2026-03-02'`;
  expect(await health()).toBe('healthy');
  await write(org, sql`insert into query_warnings values (${org.id}, ${id}, 1, '[{}]')`);
  expect(await health()).toBe('warning');
  await write(
    org,
    sql`insert into gaps (organization_id, detection_id, gap_from, gap_to, id, reason, created_at, updated_at) values (${window}, ${uuidv7()}, 'late', now(), now())`,
  );
  expect(await health()).toBe('gap');
  await write(org, sql`insert into pending_windows values (${window}, '2026-03-02', 'timeout')`);
  expect(await health()).toBe('failing');
  expect(toIds(await readAll(org, 'health=failing&enabled=true'))).toEqual([id]);
  await write(org, sql`update agents set enabled = false, disabled_reason = 'query_failed' where id = ${id}`);
  expect(await health()).toBe('stopped');
  await write(org, sql`update agents set disabled_reason = null where id = ${id}`);
  expect(await health()).toBe('disabled');
  expect(await readAll(org, 'health=failing')).toEqual([]);
});

test('returns the time line without overlap, cut to the range', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org, { detectionCadence: 'hourly' });
  await write(org, sql`insert into coverage values (${org.id}, ${id}, '2026-03-01', '2026-03-02')`);
  await write(
    org,
    sql`insert into gaps (organization_id, detection_id, gap_from, gap_to, filled_to, state, id, reason, created_at, updated_at)
    values (${org.id}, ${id}, '2026-03-01T20:00Z', '2026-03-03', '2026-03-02', 'filling', ${uuidv7()}, 'late', now(), now())`,
  );
  await write(
    org,
    sql`insert into pending_windows values (${org.id}, ${id}, '2026-03-03', '2026-03-04', '2026-03-04', 'timeout')`,
  );
  const line = await callOk(
    org,
    'GET',
    `/api/detections/${id}/windows?from=2026-03-01T12:00:00Z&to=2026-03-03T12:00:00Z`,
  );
  expect(
    line.windows.map((one: Record<string, string>) => [
      one['from']!.slice(0, 13),
      one['to']!.slice(0, 13),
      one['state'],
      one['reason'],
    ]),
  ).toEqual([
    ['2026-03-01T12', '2026-03-02T00', 'covered', null],
    ['2026-03-02T00', '2026-03-03T00', 'filling', 'late'],
    ['2026-03-03T00', '2026-03-03T12', 'pending', 'timeout'],
  ]);
  expect(line).toMatchObject({ isComplete: true, nextRunAt: expect.any(String), coverageFrom: expect.any(String) });
  const refused = await org.call(
    'GET',
    `/api/detections/${id}/windows?from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:00Z`,
  );
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, 'query/from']);
});
