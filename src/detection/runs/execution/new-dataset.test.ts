import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { executeDueRuns } from '../workers/run-loops.ts';

const hourMs = 3_600_000;
const midnight = Date.parse('2026-03-02T00:00:00Z');
let now = new Date(midnight);
const { deps, newOrg } = await startApp({ clock: () => now });
const at = (hour: number): Date => new Date(midnight + hour * hourMs);

const detection = {
  name: 'A new country',
  detectionCategory: 'first_occurrence',
  systemPrompt: 'Judge it.',
  detectionQuery: "SELECT _id, _time, (_event->>'$.user') AS user, (_event->>'$.country') AS country FROM auth",
  detectionCadence: 'hourly',
  entityField: 'user',
};

/** Sends one sign-in of ann for each number of hours before now. */
async function send(org: TestOrg, hours: readonly number[], country = 'DE'): Promise<void> {
  const events = hours.map((ago) => ({ user: 'ann', country, time: new Date(now.getTime() - ago * hourMs) }));
  const sent = await org.call('POST', '/api/logs/auth', events);
  expect(sent.body.accepted).toBe(hours.length);
}

async function runAt(hour: number): Promise<void> {
  now = at(hour);
  await executeDueRuns(deps, now, { concurrency: 2 });
}
const countHits = async (org: TestOrg): Promise<number> => (await org.call('GET', '/api/hits')).body.hits.length;

/** Expects the hours after the first sign-ins to be learned, and a new country to be found afterwards. */
async function expectLearningFirst(org: TestOrg, from: number): Promise<void> {
  const [last] = (await org.call('GET', '/api/detections')).body.detections;
  const { runs } = (await org.call('GET', `/api/detections/${last.id}/runs`)).body;
  expect(runs[0]).toMatchObject({ status: 'completed', triggered: false, failure: null });
  expect(runs[0].rowsTotal).toBeGreaterThan(0);
  expect(runs[0].warnings).toContainEqual(expect.objectContaining({ code: 'learning' }));
  for (let hour = from; hour < from + 7; hour++) {
    now = at(hour + 0.5);
    await send(org, [0]);
    await runAt(hour + 1);
  }
  expect(await countHits(org)).toBe(0);
  now = at(from + 7.5);
  await send(org, [0], 'KP');
  await runAt(from + 8);
  expect(await countHits(org)).toBe(1);
}

test('learns nothing from windows before the first event of a dataset', async () => {
  const org = await newOrg();
  now = at(0.5);
  expect((await org.call('POST', '/api/detections', detection)).status).toBe(200);
  for (let hour = 1; hour <= 9; hour++) await runAt(hour);
  now = at(9.5);
  await send(org, [0, 1, 2]);
  await runAt(10);
  await expectLearningFirst(org, 10);
});

test('does not learn from past hours of the first batch of events', async () => {
  const org = await newOrg();
  now = at(24.2);
  await send(
    org,
    Array.from({ length: 72 }, (_, n) => n),
  );
  now = at(24.5);
  expect((await org.call('POST', '/api/detections', detection)).status).toBe(200);
  await runAt(25);
  expect(await countHits(org)).toBe(0);
});
