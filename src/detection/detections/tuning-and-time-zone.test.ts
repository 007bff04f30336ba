import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, detectionBody, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { parseFields, toUpdateBody, diffFields } from '../managed/file-fields.ts';

const { newOrg, deps } = await startApp({ clock: () => new Date('2026-03-28T12:00:00Z') });

const tuning = { minimumCount: 3, sensitivity: 'low', historyDays: 14 };

test('stores, exports, imports and resets a tuning, and refuses one that a new category does not use', async () => {
  const org = await newOrg();
  const created = await postDetection(org, { detectionCategory: 'baseline_anomaly', tuning });
  expect(created.tuning).toEqual(tuning);
  const { detections } = await callOk(org, 'GET', '/api/detections/export');
  expect(detections[0].tuning).toEqual(tuning);
  const other = await newOrg();
  await callOk(other, 'POST', '/api/detections/import', { detections });
  expect((await callOk(other, 'GET', '/api/detections')).detections[0].tuning).toEqual(tuning);
  const path = `/api/detections/${created.id}`;
  const refused = await org.call('PUT', path, { detectionCategory: 'sequence_pattern' });
  expect(refused.body.errors).toMatchObject([{ pointer: '/tuning/historyDays', code: 'not_used' }]);
  const grouped = { detectionCategory: 'first_occurrence', tuning: { peers: { by: 'department' } } };
  expect((await org.call('PUT', path, grouped)).body.errors).toMatchObject([{ pointer: '/tuning/peers/by' }]);
  const reset = await callOk(org, 'PUT', path, { tuning: {} });
  expect(reset).not.toHaveProperty('tuning');
  expect(reset.revision).toBe(created.revision + 1);
});

test('schedules in the time zone of the detection and moves the next slot when it changes', async () => {
  const org = await newOrg();
  const created = await postDetection(org, { customCronSchedule: '30 2 * * *', cronTimezone: 'Europe/Berlin' });
  expect(created).toMatchObject({ cronSchedule: '30 2 * * *', cronTimezone: 'Europe/Berlin' });
  const nextSlot = async () =>
    inOrg(deps.db, org.id, async (tx) => {
      const [row] = await queryRows<{ at: Date }>(tx)`
        select next_slot_at as at from schedules where detection_id = ${created.id}`;
      return row!.at.toISOString();
    });
  // The clocks skip 02:30 on March 29.
  expect(await nextSlot()).toBe('2026-03-29T01:30:00.000Z');
  await callOk(org, 'PUT', `/api/detections/${created.id}`, { cronTimezone: 'America/New_York' });
  expect(await nextSlot()).toBe('2026-03-29T06:30:00.000Z');
  const utc = await callOk(org, 'PUT', `/api/detections/${created.id}`, { cronTimezone: null });
  expect(utc).not.toHaveProperty('cronTimezone');
  expect(await nextSlot()).toBe('2026-03-29T02:30:00.000Z');
});

test('a detection file can set and reset both', () => {
  const body = { ...detectionBody(), detectionCategory: 'baseline_anomaly', customCronSchedule: '0 9 * * 1' };
  const plain = parseFields(body);
  const full = parseFields({ ...body, tuning, cronTimezone: 'Asia/Tokyo' });
  expect(full).toMatchObject({ tuning, cronTimezone: 'Asia/Tokyo' });
  expect(toUpdateBody(diffFields(full, plain), plain)).toEqual({ tuning: {}, cronTimezone: null, enabled: true });
});
