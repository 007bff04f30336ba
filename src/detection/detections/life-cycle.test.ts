import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { asked, idsOf, made, suggested } from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
const org = await newOrg();

const at = (id: string, action = ''): string => `/api/detections/${id}${action && `/${action}`}`;
const later = (ms = 1000): void => void (now = new Date(now.getTime() + ms));

async function whereabouts(of: TestOrg, id: string): Promise<string[]> {
  const found = {
    detections: (await asked(of, 'GET', '/api/detections')).detections,
    open: (await asked(of, 'GET', '/api/detections/suggestions?limit=200')).suggestions,
    dismissed: (await asked(of, 'GET', '/api/detections/suggestions/dismissed')).suggestions,
  };
  return Object.entries(found).flatMap(([name, records]) => (idsOf(records).includes(id) ? [name] : []));
}

describe('a detection', () => {
  test('is deleted and restored with its earlier enabled; the time away is a gap', async () => {
    const record = await made(org, { detectionCadence: 'hourly' });
    later();
    const gone = await asked(org, 'DELETE', at(record.id), {});
    expect(gone).toEqual({
      ...record,
      deletedAt: now.toISOString(),
      updatedAt: now.toISOString(),
      enabled: false,
      triggerSummary: [{ ...record.triggerSummary[0], enabled: false }],
    });
    expect(await asked(org, 'GET', at(record.id))).toEqual(gone);
    expect(await whereabouts(org, record.id)).toEqual([]);
    later(3 * 3_600_000);
    const back = await asked(org, 'POST', at(record.id, 'restore'), {});
    expect(back).toEqual({ ...record, updatedAt: now.toISOString() });
    expect(await whereabouts(org, record.id)).toEqual(['detections']);
    const gaps = await inOrg(deps.db, org.id, (tx) =>
      queryRows(tx, sql`select reason, gap_to - gap_from as length from gaps where detection_id = ${record.id}`),
    );
    expect(gaps).toMatchObject([{ reason: 'deleted', length: { hours: 3 } }]);
  });

  test('that was off comes back off', async () => {
    const { id } = await made(org, { detectionCadence: 'hourly', enabled: false });
    await asked(org, 'DELETE', at(id));
    expect(await asked(org, 'POST', at(id, 'restore'))).toMatchObject({ enabled: false, cronSchedule: '0 * * * *' });
  });

  test.each([[{ detectionCadence: 'hourly' }], [{}]])(
    'with %j takes its queued runs along, those asked for by hand too',
    async (given) => {
      const { id } = await made(org, given);
      const runId = uuidv7(now);
      await inOrg(deps.db, org.id, async (tx) => {
        await sql`insert into runs (organization_id, id, detection_id, due_at, trigger, status) values (${org.id}, ${runId}, ${id}, ${now}, 'manual', 'queued')`.execute(
          tx,
        );
        await sql`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at) values (${org.id}, ${runId}, ${id}, 'manual', ${now}, ${now})`.execute(
          tx,
        );
      });
      await asked(org, 'DELETE', at(id));
      const left = await inOrg(deps.db, org.id, (tx) =>
        queryRows(
          tx,
          sql`select status, (select count(*) from run_queue where run_id = ${runId}) as queued from runs where id = ${runId}`,
        ),
      );
      expect(left).toEqual([{ status: 'cancelled', queued: 0 }]);
    },
  );

  test.each(['accept', 'restore'])('%s of one changes nothing', async (action) => {
    const record = await made(org);
    later();
    expect(
      await asked(org, 'POST', at(record.id, action), action === 'accept' ? { name: 'other' } : undefined),
    ).toEqual(record);
  });

  test('cannot be dismissed, deleted or not', async () => {
    const { id } = await made(org);
    expect((await org.call('POST', at(id, 'dismiss'), {})).status).toBe(409);
    await asked(org, 'DELETE', at(id));
    expect((await org.call('POST', at(id, 'dismiss'))).status).toBe(409);
    expect((await org.call('POST', at(id, 'accept'))).status).toBe(409);
  });

  test('deleting twice answers the same record', async () => {
    const { id } = await made(org);
    const first = await asked(org, 'DELETE', at(id));
    later();
    expect(await asked(org, 'DELETE', at(id))).toEqual(first);
  });
});

describe('a suggestion', () => {
  test('becomes a detection, with overrides, and coverage begins then', async () => {
    const record = await suggested(org, { detectionCadence: 'daily', rationale: 'r', sourceItemIds: ['i'] });
    expect(await whereabouts(org, record.id)).toEqual(['open']);
    later();
    const accepted = await asked(org, 'POST', at(record.id, 'accept'), {
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
    expect(await whereabouts(org, record.id)).toEqual(['detections']);
    const schedule = await inOrg(deps.db, org.id, (tx) =>
      queryRows(tx, sql`select cron, active from schedules where detection_id = ${record.id}`),
    );
    expect(schedule).toEqual([{ cron: '5 * * * *', active: true }]);
  });

  test('is accepted without a body', async () => {
    const { id } = await suggested(org);
    expect(await asked(org, 'POST', at(id, 'accept'))).toMatchObject({ isSuggestion: false });
  });

  test('overrides that do not fit leave it open', async () => {
    const record = await suggested(org);
    for (const [body, pointer] of [
      [{ enabled: true }, '/enabled'],
      [{ nam: 'x' }, '/nam'],
      [{ customCronSchedule: 'x' }, '/customCronSchedule'],
    ] as const) {
      const answer = await org.call('POST', at(record.id, 'accept'), body);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
    }
    expect(await asked(org, 'GET', at(record.id))).toEqual(record);
  });

  test('is dismissed with a reason, and restored without', async () => {
    const record = await suggested(org);
    later();
    const dismissed = await asked(org, 'POST', at(record.id, 'dismiss'), { reason: 'noisy', note: 'Too many.' });
    expect(dismissed).toMatchObject({
      deletedAt: now.toISOString(),
      isSuggestion: true,
      dismissReason: 'noisy',
      dismissNote: 'Too many.',
    });
    expect(await whereabouts(org, record.id)).toEqual(['dismissed']);
    expect(await asked(org, 'POST', at(record.id, 'dismiss'), { reason: 'other' })).toEqual(dismissed);
    expect(await asked(org, 'DELETE', at(record.id))).toEqual(dismissed);
    expect((await org.call('POST', at(record.id, 'accept'))).status).toBe(409);
    expect((await org.call('PUT', at(record.id), { name: 'x' })).status).toBe(409);
    later();
    expect(await asked(org, 'POST', at(record.id, 'restore'))).toEqual({ ...record, updatedAt: now.toISOString() });
    expect(await whereabouts(org, record.id)).toEqual(['open']);
  });

  test.each([
    [{ reason: 'bored' }, '/reason'],
    [{ note: 'x'.repeat(1001) }, '/note'],
    [{ because: 'x' }, '/because'],
    [[], ''],
  ])('dismiss with %j is refused at %s', async (body, pointer) => {
    const { id } = await suggested(org);
    const answer = await org.call('POST', at(id, 'dismiss'), body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('the dismissed stand latest first, deleted detections not among them', async () => {
    const other = await newOrg();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push((await suggested(other)).id);
    const accepted = await suggested(other);
    await asked(other, 'POST', at(accepted.id, 'accept'));
    await asked(other, 'DELETE', at(accepted.id));
    for (const id of [ids[1], ids[0], ids[2]]) {
      later();
      await asked(other, 'DELETE', at(id));
    }
    const list = await asked(other, 'GET', '/api/detections/suggestions/dismissed');
    expect(Object.keys(list)).toEqual(['suggestions']);
    expect(idsOf(list.suggestions)).toEqual([ids[2], ids[0], ids[1]]);
  });
});

test('each step has its audit row', async () => {
  const { id } = await suggested(org);
  for (const action of ['dismiss', 'restore', 'accept']) await asked(org, 'POST', at(id, action));
  await asked(org, 'DELETE', at(id));
  await asked(org, 'POST', at(id, 'restore'));
  const { entries } = await asked(org, 'GET', '/api/audit?limit=6');
  expect(entries.map((entry: { action: string }) => entry.action).toReversed()).toEqual([
    'suggestion.created',
    'suggestion.dismissed',
    'suggestion.restored',
    'suggestion.accepted',
    'detection.deleted',
    'detection.restored',
  ]);
});
