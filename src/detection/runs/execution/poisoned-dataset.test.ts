import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { acrossOrgs } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { executeDueRuns } from '../workers/run-loops.ts';

const hourMs = 3_600_000;
const midnight = Date.parse('2026-03-02T00:00:00Z');
let now = new Date(midnight);
const { deps, newOrg } = await startApp({ clock: () => now });
const at = (hour: number): Date => new Date(midnight + hour * hourMs);

const poison = [
  { mfa: 'unknown', bytes: 'none' },
  { mfa: { by: 'sms' }, bytes: [1, 2] },
  { mfa: 3, bytes: { MFA: true } },
  { Mfa: true, BYTES: 5, who: { name: 'eve' } },
  // More keys than a batch is examined for, before those that do not fit.
  { ...Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`junk${n}`, n])), mfa: 'unknown', Bytes: 'none' },
];

/** Runs the slot of `hour` for events that arrived in the middle of the hour before it. */
async function sendAndRun(org: TestOrg, hour: number, events: object[]): Promise<void> {
  now = at(hour - 0.5);
  const time = now.toISOString();
  expect((await org.call('POST', '/api/logs/auth', events.map((event) => ({ time, ...event })))).status).toBe(200); // prettier-ignore
  now = at(hour);
  await executeDueRuns(deps, now, { concurrency: 1 });
}
const subscribe = (org: TestOrg, type: string) =>
  acrossOrgs(deps.db, (tx) =>
    sql`insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
      values (${org.id}, ${uuidv7()}, 'webhook', 'x', 'x', ''::bytea, ${[type]}::text[], now(), now())`.execute(tx),
  );
const usual = (count: number) => Array.from({ length: count }, (_, n) => ({ who: `u${n}`, mfa: true, bytes: n }));
const theft = (user: string) => ({ who: user, mfa: false, bytes: 5_000_000 });

test('one client cannot blind a detection: windows before, during and after poisoned events are examined', async () => {
  const org = await newOrg();
  await subscribe(org, 'dataset.drifted');
  now = at(0.25);
  await org.call('POST', '/api/logs/auth', usual(30));
  const detectionQuery = 'SELECT _id, _time, who, bytes FROM auth WHERE NOT mfa AND bytes > 1000000';
  const shared = {
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery,
    detectionCadence: 'hourly',
    entityField: 'who',
  };
  const created = await org.call('POST', '/api/detections?validate=true', { name: 'Theft', ...shared });
  expect(created.status).toBe(200);
  const { id } = created.body;
  await sendAndRun(org, 1, [theft('ann')]);
  for (const [n, event] of poison.entries())
    await sendAndRun(org, n + 2, [event, theft(`during${n}`), ...Array.from({ length: 5 }, () => event)]);
  await sendAndRun(org, 7, [theft('bob')]);

  const record = (await org.call('GET', `/api/detections/${id}`)).body;
  expect(record).toMatchObject({ enabled: true });
  const { hits } = (await org.call('GET', '/api/hits')).body;
  const found = ['ann', 'bob', ...poison.map((_, n) => `during${n}`)];
  expect(hits.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual(found.toSorted());
  const { runs } = (await org.call('GET', `/api/detections/${id}/runs`)).body;
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(runs.map(() => 'completed'));
  const drifted = runs.filter(({ warnings }: { warnings: { code: string }[] }) => warnings.some(({ code }) => code === 'type_drift')); // prettier-ignore
  expect(drifted).toHaveLength(4);
  const { datasets } = (await org.call('GET', '/api/logs')).body;
  const columns: { name: string; type: string; drift?: { count: number } }[] = datasets[0].columns;
  for (const name of ['mfa', 'bytes']) expect(columns.find((column) => column.name === name)!.drift!.count).toBe(24);
  expect(columns.filter(({ name }) => /^(?:mfa|bytes)$/.test(name)).map(({ type }) => type)).toEqual([
    'BOOLEAN',
    'BIGINT',
  ]);
  const events = await selectIn(deps.db)`select type from outbox where type = 'dataset.drifted'`;
  expect(events.length).toBeGreaterThan(0);
  // After all columns have drifted, a repeated examination finds the same.
  const preview = await org.call('POST', '/api/detections/preview', {
    ...shared,
    name: 'Theft',
    from: at(0),
    to: at(7),
  });
  expect(preview.body.candidates.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual(found.toSorted());
});
