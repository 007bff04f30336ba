import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { hour, startRuns, type RunsTest } from '../../../test/support/detection/scripted-runs.ts';
import { judgedAs } from '../../../test/support/detection/slow-judge.ts';
import { budgetExceededError } from '../../platform/models/model-error.ts';
import type { Judge } from '../runs/judging/judge.ts';
import { getHits, getHitGroup, getHitGroups } from './read-hits.ts';
import { setHitStatus, setGroupStatus, undoGroupStatus } from './set-status.ts';

const testDb = await testDatabase();

type EventRow = {
  type: string;
  data: { id: string; groupId: string | null; group?: { hits: number; headline: string } };
};
const listEvents = async (t: RunsTest): Promise<EventRow[]> =>
  t.select<EventRow>`select type, body::json->'data' as data from outbox order by id`;
const summarize = (events: EventRow[]) => events.map(({ type, data }) => [type, data.group?.hits ?? null]);

/** Starts runs over windows in which `count` hosts encrypt files, with a destination for hits. */
async function startWave(count: (n: number) => number, suppressionMinutes = 360) {
  const t = await startRuns(testDb, ({ window }) => {
    const n = (window.from.getTime() - Date.parse(hour(0))) / 3_600_000;
    return Array.from({ length: count(n) }, (_, i) => ({
      _id: `w${n}-${i}`,
      host: `host-${String(i).padStart(3, '0')}`,
      action: 'encrypt',
      severity: i === 7 ? 'critical' : 'high',
    }));
  });
  await t.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', '{hit.created,hit.updated}', now(), now())`;
  const id = await t.newDetection({ name: 'Files encrypted', entityField: 'host', suppressionMinutes });
  return { t, id };
}

test('raises 350 encrypted hosts as one group with one event, and sets their status together', async () => {
  const { t, id } = await startWave((n) => (n < 2 ? 350 : 0));
  await t.runAt(hour(1));
  expect(await t.select`select count(*) as n, count(distinct group_id) as groups from hits`).toEqual([
    { n: 350, groups: 1 },
  ]);
  const events = await listEvents(t);
  expect(summarize(events)).toEqual([['hit.created', 350]]);
  expect(events[0]!.data).toMatchObject({ severity: 'critical', group: { headline: 'Files encrypted: 350 hosts' } });
  // The next window only adds occurrences of the same hosts, and again one event.
  await t.runAt(hour(2));
  expect(summarize(await listEvents(t))).toEqual([
    ['hit.created', 350],
    ['hit.updated', 350],
  ]);
  const { groups } = await getHitGroups(t.deps, t.caller, { detection: id, status: 'open' });
  expect(groups).toMatchObject([{ hits: 350, severity: 'critical', statuses: { open: 350 }, unjudged: 0 }]);
  expect(groups[0]!.entities).toHaveLength(20);
  expect(groups[0]!.entities[0]).toMatchObject({ entity: 'host-007', severity: 'critical' });
  const group = groups[0]!.id;
  const page = await getHits(t.deps, t.caller, { group, limit: '200' });
  expect(page.hits).toHaveLength(200);
  expect(page.hits.every((hit) => hit.groupId === group)).toBe(true);

  await t.select`update hits set status = 'benign' where entity = 'host-001'`;
  const closed = await setGroupStatus(t.deps, t.caller, group, { status: 'true_positive', reason: 'ransomware' });
  expect(closed.statuses).toEqual({ true_positive: 350 });
  expect(await t.select`select true_positives, benign from hit_reviews`).toEqual([{ true_positives: 350, benign: 0 }]);
  expect(await t.select`select from_status, reason, count(*) as n from hit_changes group by 1, 2 order by 1`).toEqual([
    { from_status: 'benign', reason: 'ransomware', n: 1 },
    { from_status: 'open', reason: 'ransomware', n: 349 },
  ]);
  expect(summarize(await listEvents(t)).slice(2)).toEqual([['hit.updated', 350]]);
  await setGroupStatus(t.deps, t.caller, group, { status: 'true_positive' });
  expect(await listEvents(t)).toHaveLength(3);
  expect(await t.select`select action from audit where resource_type = 'hit_group'`).toHaveLength(1);
  expect((await getHitGroups(t.deps, t.caller, { status: 'open' })).groups).toEqual([]);

  // One hit is judged again, so that only the others are put back.
  const after = (seconds: number) => {
    const at = new Date(t.deps.clock().getTime() + seconds * 1000);
    return { ...t.deps, clock: () => at };
  };
  const [other] = await t.select<{ id: string }>`select id from hits where entity = 'host-002'`;
  await setHitStatus(after(1), t.caller, other!.id, { status: 'false_positive' });
  const undone = await undoGroupStatus(after(2), t.caller, group, closed.change!.id);
  expect(undone).toMatchObject({ statuses: { open: 348, benign: 1, false_positive: 1 }, change: { hits: 349 } });
  expect(await t.select`select true_positives, benign, false_positives from hit_reviews`).toEqual([
    { true_positives: 0, benign: 1, false_positives: 1 },
  ]);
  const again = await undoGroupStatus(after(3), t.caller, group, closed.change!.id);
  expect(again.change).toBeNull();
  const redone = await undoGroupStatus(after(4), t.caller, group, undone.change!.id);
  expect(redone.statuses).toEqual({ true_positive: 349, false_positive: 1 });
  await expect(undoGroupStatus(t.deps, t.caller, group, group)).rejects.toMatchObject({ status: 404 });
});

test('announces a wave that a model judges one by one when it is noticed and when it is complete', async () => {
  const { t } = await startWave((n) => (n === 0 ? 12 : 0));
  const judge: Judge = {
    model: 'scripted',
    instant: false,
    judge: (candidate) => Promise.resolve(judgedAs(candidate)),
  };
  await t.runAt(hour(1), judge);
  expect(summarize(await listEvents(t))).toEqual([
    ['hit.created', null],
    ['hit.created', null],
    ['hit.created', null],
    ['hit.created', null],
    ['hit.created', 5],
    ['hit.updated', 12],
  ]);
});

test('announces the later verdicts on a wave with one event', async () => {
  const { t } = await startWave((n) => (n === 0 ? 9 : 0));
  const judge: Judge = {
    model: 'scripted',
    instant: false,
    judge: () => Promise.reject(budgetExceededError('The budget is used up.')),
  };
  await t.runAt(hour(1), judge);
  expect(summarize(await listEvents(t))).toEqual([['hit.created', 9]]);
  await t.runAt(hour(2), {
    ...judge,
    judge: (candidate) => Promise.resolve(judgedAs(candidate)),
  });
  expect(await t.select`select distinct judged from hits`).toEqual([{ judged: true }]);
  expect(summarize(await listEvents(t)).slice(1)).toEqual([['hit.updated', 9]]);
});

test('does not group the hits of a window with fewer than five, nor those of different windows', async () => {
  const { t } = await startWave((n) => (n < 3 ? 4 : 0), 0);
  for (const n of [1, 2, 3]) await t.runAt(hour(n));
  expect(await t.select`select distinct group_id from hits`).toEqual([{ group_id: null }]);
  expect((await getHitGroups(t.deps, t.caller, {})).groups).toEqual([]);
  const missing = '00000000-0000-7000-8000-000000000000';
  await expect(getHitGroup(t.deps, t.caller, missing)).rejects.toMatchObject({ status: 404 });
  await expect(setGroupStatus(t.deps, t.caller, missing, { status: 'benign' })).rejects.toMatchObject({ status: 404 });
});
