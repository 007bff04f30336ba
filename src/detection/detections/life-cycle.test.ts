import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import {
  callOk,
  postDetection,
  postSuggestion,
  queryOrg,
  toIds,
} from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
const org = await newOrg();

const urlOf = (id: string, action = ''): string => `/api/detections/${id}${action && `/${action}`}`;
const advanceClock = (ms = 1000): void => void (now = new Date(now.getTime() + ms));

async function findLists(of: TestOrg, id: string): Promise<string[]> {
  const found = {
    detections: (await callOk(of, 'GET', '/api/detections')).detections,
    open: (await callOk(of, 'GET', '/api/detections/suggestions?limit=200')).suggestions,
    dismissed: (await callOk(of, 'GET', '/api/detections/suggestions/dismissed')).suggestions,
  };
  return Object.entries(found).flatMap(([name, records]) => (toIds(records).includes(id) ? [name] : []));
}

describe('a detection', () => {
  test('is restored with its previous enabled state, and the time in between is a gap', async () => {
    const record = await postDetection(org, { detectionCadence: 'hourly' });
    advanceClock();
    const deleted = await callOk(org, 'DELETE', urlOf(record.id), {});
    expect(deleted).toEqual({
      ...record,
      deletedAt: now.toISOString(),
      updatedAt: now.toISOString(),
      enabled: false,
      triggerSummary: [{ ...record.triggerSummary[0], enabled: false }],
    });
    expect(await callOk(org, 'GET', urlOf(record.id))).toEqual(deleted);
    expect(await findLists(org, record.id)).toEqual([]);
    advanceClock(3 * 3_600_000);
    const restored = await callOk(org, 'POST', urlOf(record.id, 'restore'), {});
    expect(restored).toEqual({ ...record, updatedAt: now.toISOString() });
    expect(await findLists(org, record.id)).toEqual(['detections']);
    const gaps = sql`select reason, gap_to - gap_from as length from gaps where detection_id = ${record.id}`;
    expect(await queryOrg(deps, org, gaps)).toMatchObject([{ reason: 'deleted', length: { hours: 3 } }]);
  });

  test('that was disabled is disabled after a restore', async () => {
    const { id } = await postDetection(org, { detectionCadence: 'hourly', enabled: false });
    await callOk(org, 'DELETE', urlOf(id));
    expect(await callOk(org, 'POST', urlOf(id, 'restore'))).toMatchObject({
      enabled: false,
      cronSchedule: '0 * * * *',
    });
  });

  test.each([[{ detectionCadence: 'hourly' }], [{}]])(
    'with %j loses its queued runs when it is deleted, manual ones included',
    async (fields) => {
      const { id } = await postDetection(org, fields);
      const runId = uuidv7(now);
      for (const statement of [
        sql`insert into runs (organization_id, id, detection_id, due_at, trigger, status) values (${org.id}, ${runId}, ${id}, ${now}, 'manual', 'queued')`,
        sql`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at) values (${org.id}, ${runId}, ${id}, 'manual', ${now}, ${now})`,
      ])
        await queryOrg(deps, org, statement);
      await callOk(org, 'DELETE', urlOf(id));
      const remaining = sql`select status, (select count(*) from run_queue where run_id = ${runId}) as queued from runs where id = ${runId}`;
      expect(await queryOrg(deps, org, remaining)).toEqual([{ status: 'cancelled', queued: 0 }]);
    },
  );

  test.each(['accept', 'restore'])('is not changed by %s', async (action) => {
    const record = await postDetection(org);
    advanceClock();
    expect(
      await callOk(org, 'POST', urlOf(record.id, action), action === 'accept' ? { name: 'other' } : undefined),
    ).toEqual(record);
  });

  test('cannot be dismissed, whether it is deleted or not', async () => {
    const { id } = await postDetection(org);
    expect((await org.call('POST', urlOf(id, 'dismiss'), {})).status).toBe(409);
    await callOk(org, 'DELETE', urlOf(id));
    expect((await org.call('POST', urlOf(id, 'dismiss'))).status).toBe(409);
    expect((await org.call('POST', urlOf(id, 'accept'))).status).toBe(409);
  });

  test('returns the same record when it is deleted twice', async () => {
    const { id } = await postDetection(org);
    const first = await callOk(org, 'DELETE', urlOf(id));
    advanceClock();
    expect(await callOk(org, 'DELETE', urlOf(id))).toEqual(first);
  });
});

describe('a suggestion', () => {
  test('becomes a detection with overrides, and its coverage begins on acceptance', async () => {
    const record = await postSuggestion(org, { detectionCadence: 'daily', rationale: 'r', sourceItemIds: ['i'] });
    expect(await findLists(org, record.id)).toEqual(['open']);
    advanceClock();
    const accepted = await callOk(org, 'POST', urlOf(record.id, 'accept'), {
      name: 'Mine',
      customCronSchedule: '5 * * * *',
      tags: ['A'],
    });
    expect(accepted).toMatchObject({
      id: record.id,
      isSuggestion: false,
      name: 'Mine',
      cronSchedule: '5 * * * *',
      enabled: true,
      tags: ['a'],
      createdAt: record.createdAt,
    });
    expect(accepted).not.toHaveProperty('rationale');
    expect(await findLists(org, record.id)).toEqual(['detections']);
    const schedules = sql`select cron, active from schedules where detection_id = ${record.id}`;
    expect(await queryOrg(deps, org, schedules)).toEqual([{ cron: '5 * * * *', active: true }]);
  });

  test('can be accepted without a body', async () => {
    const { id } = await postSuggestion(org);
    expect(await callOk(org, 'POST', urlOf(id, 'accept'))).toMatchObject({ isSuggestion: false });
  });

  test('stays open if the overrides are invalid', async () => {
    const record = await postSuggestion(org);
    for (const [body, pointer] of [
      [{ enabled: true }, '/enabled'],
      [{ nam: 'x' }, '/nam'],
      [{ customCronSchedule: 'x' }, '/customCronSchedule'],
    ] as const) {
      const response = await org.call('POST', urlOf(record.id, 'accept'), body);
      expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
    }
    expect(await callOk(org, 'GET', urlOf(record.id))).toEqual(record);
  });

  test('has a reason once dismissed and none once restored', async () => {
    const record = await postSuggestion(org);
    advanceClock();
    const dismissed = await callOk(org, 'POST', urlOf(record.id, 'dismiss'), { reason: 'noisy', note: 'Too many.' });
    expect(dismissed).toMatchObject({
      deletedAt: now.toISOString(),
      isSuggestion: true,
      dismissReason: 'noisy',
      dismissNote: 'Too many.',
    });
    expect(await findLists(org, record.id)).toEqual(['dismissed']);
    expect(await callOk(org, 'POST', urlOf(record.id, 'dismiss'), { reason: 'other' })).toEqual(dismissed);
    expect(await callOk(org, 'DELETE', urlOf(record.id))).toEqual(dismissed);
    expect((await org.call('POST', urlOf(record.id, 'accept'))).status).toBe(409);
    expect((await org.call('PUT', urlOf(record.id), { name: 'x' })).status).toBe(409);
    advanceClock();
    expect(await callOk(org, 'POST', urlOf(record.id, 'restore'))).toEqual({ ...record, updatedAt: now.toISOString() });
    expect(await findLists(org, record.id)).toEqual(['open']);
  });

  test.each([
    [{ reason: 'bored' }, '/reason'],
    [{ note: 'x'.repeat(1001) }, '/note'],
    [{ because: 'x' }, '/because'],
    [[], ''],
  ])('rejects a dismissal with %j at %s', async (body, pointer) => {
    const { id } = await postSuggestion(org);
    const response = await org.call('POST', urlOf(id, 'dismiss'), body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('is listed most recently dismissed first, without deleted detections', async () => {
    const other = await newOrg();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push((await postSuggestion(other)).id);
    const accepted = await postSuggestion(other);
    await callOk(other, 'POST', urlOf(accepted.id, 'accept'));
    await callOk(other, 'DELETE', urlOf(accepted.id));
    for (const id of [ids[1], ids[0], ids[2]]) {
      advanceClock();
      await callOk(other, 'DELETE', urlOf(id));
    }
    const list = await callOk(other, 'GET', '/api/detections/suggestions/dismissed');
    expect(Object.keys(list)).toEqual(['suggestions']);
    expect(toIds(list.suggestions)).toEqual([ids[2], ids[0], ids[1]]);
  });
});

test('writes an audit row for each transition', async () => {
  const { id } = await postSuggestion(org);
  for (const action of ['dismiss', 'restore', 'accept']) await callOk(org, 'POST', urlOf(id, action));
  await callOk(org, 'DELETE', urlOf(id));
  await callOk(org, 'POST', urlOf(id, 'restore'));
  const { entries } = await callOk(org, 'GET', '/api/audit?limit=6');
  expect(entries.map((entry: { action: string }) => entry.action).toReversed()).toEqual([
    'suggestion.created',
    'suggestion.dismissed',
    'suggestion.restored',
    'suggestion.accepted',
    'detection.deleted',
    'detection.restored',
  ]);
});
