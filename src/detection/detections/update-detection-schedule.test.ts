import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
const org = await newOrg();

const put = (id: string, body: unknown, headers?: Record<string, string>) =>
  org.call('PUT', `/api/detections/${id}`, body, headers);
const changed = async (id: string, body: unknown) => callOk(org, 'PUT', `/api/detections/${id}`, body);
const stored = <T>(statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
  inOrg(deps.db, org.id, (tx) => queryRows(tx, statement));

describe('schedule and enabled', () => {
  type Step = [body: Record<string, unknown>, cron: string | null, enabled: boolean];
  const cases: [string, Record<string, unknown>, Step[]][] = [
    ['enables a detection that gains its first schedule', {}, [[{ detectionCadence: 'daily' }, '0 0 * * *', true]]],
    ['respects an explicit enabled: false', {}, [[{ detectionCadence: 'daily', enabled: false }, '0 0 * * *', false]]],
    [
      'keeps a detection disabled when its schedule changes',
      { detectionCadence: 'hourly', enabled: false },
      [[{ detectionCadence: 'weekly' }, '0 0 * * 1', false]],
    ],
    [
      'keeps a detection enabled when its schedule changes',
      { detectionCadence: 'hourly' },
      [[{ customCronSchedule: '9 9 * * *' }, '9 9 * * *', true]],
    ],
    [
      'prefers the custom cron until it is cleared',
      { detectionCadence: 'hourly', customCronSchedule: '9 * * * *' },
      [
        [{ detectionCadence: 'daily' }, '9 * * * *', true],
        [{ customCronSchedule: null }, '0 0 * * *', true],
      ],
    ],
    [
      'disables on losing the last schedule and enables on gaining one again',
      { detectionCadence: 'hourly' },
      [
        [{ detectionCadence: null }, null, false],
        [{ customCronSchedule: '1 1 * * *' }, '1 1 * * *', true],
      ],
    ],
    [
      'prefers the custom cron when both are set together',
      {},
      [[{ detectionCadence: 'daily', customCronSchedule: '2 * * * *' }, '2 * * * *', true]],
    ],
    [
      'disables and enables on request',
      { detectionCadence: 'hourly' },
      [
        [{ enabled: false }, '0 * * * *', false],
        [{ name: 'x' }, '0 * * * *', false],
        [{ enabled: true }, '0 * * * *', true],
      ],
    ],
  ];
  test.each(cases)('%s', async (_name, fields, steps) => {
    const { id } = await postDetection(org, fields);
    for (const [body, cronSchedule, enabled] of steps) {
      const record = await changed(id, body);
      expect(record).toMatchObject({
        cronSchedule,
        enabled,
        triggerSummary: cronSchedule === null ? [] : [{ source: 'cron', enabled }],
      });
      const [schedule] = await stored<{ active: boolean; cron: string | null }>(
        sql`select active, cron from schedules where detection_id = ${id}`,
      );
      expect(schedule).toEqual({ active: enabled, cron: cronSchedule });
    }
  });

  test('checks the look-back against the new schedule', async () => {
    const { id } = await postDetection(org, { detectionCadence: 'hourly', lookbackMinutes: 120 });
    const response = await put(id, { detectionCadence: 'daily' });
    expect([response.status, response.body.errors]).toMatchObject([
      400,
      [{ pointer: '/lookbackMinutes', code: 'too_short' }],
    ]);
    expect(await changed(id, { detectionCadence: 'daily', lookbackMinutes: 2880 })).toMatchObject({
      cronSchedule: '0 0 * * *',
      lookbackMinutes: 2880,
    });
    expect(await stored(sql`select lookback_minutes from schedules where detection_id = ${id}`)).toEqual([
      { lookback_minutes: 2880 },
    ]);
  });

  test('records the time a detection was disabled as a gap', async () => {
    const { id } = await postDetection(org, { detectionCadence: 'hourly' });
    const disabledAt = now;
    await changed(id, { enabled: false });
    now = new Date(disabledAt.getTime() + 5 * 3_600_000);
    await changed(id, { enabled: true });
    const gaps = await stored<{ gap_from: Date; gap_to: Date }>(
      sql`select gap_from, gap_to, reason, state from gaps where detection_id = ${id}`,
    );
    now = disabledAt;
    expect(gaps).toMatchObject([{ reason: 'disabled', state: 'open' }]);
    expect(gaps[0]!.gap_to.getTime() - gaps[0]!.gap_from.getTime()).toBe(5 * 3_600_000);
  });
});
