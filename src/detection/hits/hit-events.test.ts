import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { hour, startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { judgedAs } from '../../../test/support/detection/slow-judge.ts';
import { eventTypes } from '../../platform/notifications/event-types.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { CheckedClaim } from '../verdicts/verdict.ts';
import { setGroupStatus, setHitStatus } from './set-status.ts';

const testDb = await testDatabase();
const invented: CheckedClaim = {
  text: 'Peter Novak is the attacker.',
  kind: 'fact',
  cites: [],
  status: 'unproven',
  reason: 'it cites nothing',
};

test('sends claims that are not proven with their status, and in no other text of any event', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    Array.from({ length: window.from.toISOString() === hour(0) ? 1 : 350 }, (_, n) => ({
      _id: `${window.from.toISOString()}-${n}`,
      host: `host-${n}`,
      action: 'encrypt',
    })),
  );
  const judge: Judge = {
    model: 'm',
    instant: true,
    judge: (candidate) => {
      const judged = judgedAs(candidate);
      const claims = [...judged.verdict.claims, invented];
      return Promise.resolve({ ...judged, verdict: { ...judged.verdict, claims } });
    },
  };
  await t.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', ${[...eventTypes]}::text[], now(), now())`;
  await t.newDetection({ name: 'Files encrypted', entityField: 'host' });
  await t.runAt(hour(1), judge);
  await t.runAt(hour(2), judge);
  const [single] = await t.select<{ id: string }>`select id from hits where entity = 'host-0'`;
  await setHitStatus(t.deps, t.caller, single!.id, { status: 'benign' });
  const [group] = await t.select<{ id: string }>`select distinct group_id as id from hits where group_id is not null`;
  await setGroupStatus(t.deps, t.caller, group!.id, { status: 'true_positive' });

  const events = await t.select<{ type: string; body: string }>`select type, body from outbox`;
  const types = events.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['hit.created', 'hit.updated', 'run.completed']));
  for (const { type, body } of events) {
    const claims: CheckedClaim[] = [];
    const rest = JSON.parse(body, (key, value: unknown) =>
      key === 'claims' && Array.isArray(value) ? [claims.push(...(value as CheckedClaim[]))] : value,
    ) as object;
    expect(JSON.stringify(rest)).not.toContain('Novak');
    if (type.startsWith('hit.')) expect(claims).toContainEqual(invented);
  }
});
