import { afterEach, expect, test } from 'vitest';
import { selectIn } from '../../../test/support/select-rows.ts';
import { startApp } from '../../../test/support/harness.ts';
import { executeDueRuns } from './workers/run-loops.ts';

let now = new Date(0);
const { deps, newOrg } = await startApp({ clock: () => now });
const org = await newOrg();
// So that no test executes the slots of earlier ones.
afterEach(() => selectIn(deps.db)`update schedules set active = false`);

test.each([
  ['Europe/Berlin', '30 2 * * *', '2026-03-28T01:30', ['2026-03-29T01:30', '2026-03-30T00:30', '2026-03-31T00:30']],
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T00:30', ['2026-10-25T00:30', '2026-10-26T01:30', '2026-10-27T01:30']],
  ['America/New_York', '15 2 * * *', '2026-03-07T07:15', ['2026-03-08T07:15', '2026-03-09T06:15', '2026-03-10T06:15']],
  ['America/New_York', '0 1 * * *', '2026-10-31T05:00', ['2026-11-01T05:00', '2026-11-02T06:00', '2026-11-03T06:00']],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T15:45', ['2026-10-03T15:45', '2026-10-04T15:15']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03T14:45', ['2026-04-04T14:45', '2026-04-05T15:15']],
  ['Europe/Berlin', '0 * * * *', '2026-10-24T23:00', ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00']],
])('runs in %s at "%s" tile the time over a change of the clocks from %s', async (zone, cron, before, slots) => {
  const toDate = (text: string): Date => new Date(`${text}:00Z`);
  now = new Date(toDate(before).getTime() + 60_000);
  const created = await org.call('POST', '/api/detections', {
    name: 'Daily',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: 'SELECT 1 AS n',
    customCronSchedule: cron,
    cronTimezone: zone,
  });
  expect(created).toMatchObject({ status: 200 });
  const path = `/api/detections/${created.body.id}/runs`;
  const listRuns = async () => (await org.call('GET', path)).body.runs.toReversed();
  for (const [index, slot] of slots.entries()) {
    now = new Date(toDate(slot).getTime() - 1_000);
    await executeDueRuns(deps, now, { concurrency: 1 });
    expect(await listRuns()).toHaveLength(index);
    now = toDate(slot);
    await executeDueRuns(deps, now, { concurrency: 1 });
  }
  expect(await listRuns()).toMatchObject(
    slots.map((slot, index) => ({
      status: 'completed',
      windowFrom: toDate(slots[index - 1] ?? before).toISOString(),
      windowTo: toDate(slot).toISOString(),
    })),
  );
});
