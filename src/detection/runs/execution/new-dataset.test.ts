import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { runDue } from '../workers/run-due.ts';

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

/** Sign-ins of ann, each `hours` of the given ones before now. */
async function send(org: TestOrg, hours: readonly number[], country = 'DE'): Promise<void> {
  const events = hours.map((ago) => ({ user: 'ann', country, time: new Date(now.getTime() - ago * hourMs) }));
  const sent = await org.call('POST', '/api/logs/auth', events);
  expect(sent.body.accepted).toBe(hours.length);
}

async function runAt(hour: number): Promise<void> {
  now = at(hour);
  await runDue(deps, now, { places: 2 });
}
const hitsOf = async (org: TestOrg): Promise<number> => (await org.call('GET', '/api/hits')).body.hits.length;

/** The hours after the first sign-ins: learned first, then a new country is found. */
async function learnsFirst(org: TestOrg, from: number): Promise<void> {
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
  expect(await hitsOf(org)).toBe(0);
  now = at(from + 7.5);
  await send(org, [0], 'KP');
  await runAt(from + 8);
  expect(await hitsOf(org)).toBe(1);
}

test('windows before a dataset has an event teach nothing: its first hours are no first occurrences', async () => {
  const org = await newOrg();
  now = at(0.5);
  expect((await org.call('POST', '/api/detections', detection)).status).toBe(200);
  for (let hour = 1; hour <= 9; hour++) await runAt(hour);
  now = at(9.5);
  await send(org, [0, 1, 2]);
  await runAt(10);
  await learnsFirst(org, 10);
});

test('a first batch that tells of days does not make hours learned in which nothing had come', async () => {
  const org = await newOrg();
  now = at(24.2);
  await send(
    org,
    Array.from({ length: 72 }, (_, n) => n),
  );
  now = at(24.5);
  expect((await org.call('POST', '/api/detections', detection)).status).toBe(200);
  await runAt(25);
  expect(await hitsOf(org)).toBe(0);
});
