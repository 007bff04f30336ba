import { afterEach, expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs } from './claim-runs.store.ts';

const { db, query } = await testDatabase(8);
const now = new Date('2026-03-02T01:00:00Z');

afterEach(() => query`delete from run_queue`);

async function addConnection(orgId: OrgId, places: number): Promise<string> {
  const id = uuidv7();
  await query`
    insert into connections (organization_id, id, kind, name, settings, sealed, clock, delay_minutes, recheck_minutes, places, created_at, updated_at)
    values (${orgId}, ${id}, 'splunk', ${id}, '{}', '', 'event', 0, 0, ${places}, now(), now())`;
  return id;
}

/** Queues a run of each of `count` detections. `startAt` orders them. */
async function queueRuns(
  orgId: OrgId,
  connectionId: string | null,
  { count, startAt }: { count: number; startAt: Date },
) {
  await query`
    with added as (
      insert into agents (organization_id, id, agent_type, name, trigger_id, detection_category, detection_query, created_at, updated_at)
      select ${orgId}, gen_random_uuid(), 'detection', 'd', gen_random_uuid(), 'custom', 'q', now(), now() from generate_series(1, ${count})
      returning id
    )
    insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
    select ${orgId}, gen_random_uuid(), id, 'schedule', ${startAt}, ${startAt}, ${connectionId} from added`;
}

test('a connection with 1,000 due detections has as many runs at a time as places, and delays no other connection', async () => {
  const [org, other] = [await newOrgId(db), await newOrgId(db)];
  await query`insert into lanes (organization_id, kind) values (${org}, 'schedule'), (${other}, 'schedule')`;
  const [busy, small, foreign] = [
    await addConnection(org, 3),
    await addConnection(org, 2),
    await addConnection(other, 2),
  ];
  await queueRuns(org, busy, { count: 1000, startAt: new Date(now.getTime() - 60_000) });
  await queueRuns(org, small, { count: 20, startAt: now });
  await queueRuns(other, foreign, { count: 20, startAt: now });
  const ended = { [busy]: 0, [small]: 0, [foreign]: 0 };
  const most = { ...ended };
  for (let round = 0; ended[small]! + ended[foreign]! < 40; round += 1) {
    expect(round, 'runs that can be claimed are not').toBeLessThan(30);
    // Workers claim at the same time, and again until there is nothing for them.
    await Promise.all([1, 2, 3, 4].map(() => claimRunsAcrossOrgs(db, now, 4)));
    while ((await claimRunsAcrossOrgs(db, now, 4)).length > 0);
    const running = await query<{ id: string; runs: string[] }>`
      select connection_id as id, array_agg(run_id)::text[] as runs from run_queue where state = 'running' group by 1`;
    for (const { id, runs } of running) {
      most[id] = Math.max(most[id]!, runs.length);
      // The busy connection answers slowly: only one of its runs ends in each round.
      const done = id === busy ? runs.slice(0, 1) : runs;
      ended[id]! += done.length;
      await query`delete from run_queue where run_id = any(${done}::uuid[])`;
    }
  }
  expect(most).toEqual({ [busy]: 3, [small]: 2, [foreign]: 2 });
});

const countRunning = async (orgId: OrgId, connectionId: string | null) => {
  const [row] = await query<{ n: number }>`
    select count(*)::int as n from run_queue where state = 'running' and organization_id = ${orgId} and connection_id is not distinct from ${connectionId}`;
  return row!.n;
};

test.each([
  { kind: 'schedule', cap: 8, places: 100, most: 7 },
  { kind: 'schedule', cap: 8, places: 7, most: 7 },
  { kind: 'schedule', cap: 8, places: 3, most: 3 },
  { kind: 'manual', cap: 3, places: 100, most: 2 },
  { kind: 'backfill', cap: 2, places: 100, most: 2 },
  { kind: 'schedule', cap: 1, places: 100, most: 1 },
])('a connection of $places places has $most of the $cap places of a lane', async ({ kind, cap, places, most }) => {
  const org = await newOrgId(db);
  await query`insert into lanes (organization_id, kind, cap) values (${org}, ${kind}, ${cap})`;
  const connection = await addConnection(org, places);
  await queueRuns(org, connection, { count: 20, startAt: now });
  await query`update run_queue set kind = ${kind} where organization_id = ${org}`;
  await Promise.all([1, 2, 3, 4].map(() => claimRunsAcrossOrgs(db, now, 8)));
  while ((await claimRunsAcrossOrgs(db, now, 8)).length > 0);
  expect(await countRunning(org, connection)).toBe(most);
});

test('a connection whose runs never end delays neither the other detections of its organization nor its other lanes', async () => {
  const org = await newOrgId(db);
  await query`insert into lanes (organization_id, kind) values (${org}, 'schedule'), (${org}, 'manual')`;
  const [slow, fast] = [await addConnection(org, 20), await addConnection(org, 20)];
  await queueRuns(org, slow, { count: 300, startAt: new Date(now.getTime() - 60_000) });
  await queueRuns(org, fast, { count: 10, startAt: now });
  await queueRuns(org, null, { count: 10, startAt: now });
  let ended = 0;
  for (let round = 0; ended < 20; round += 1) {
    expect(round, 'runs that can be claimed are not').toBeLessThan(30);
    await Promise.all([1, 2, 3].map(() => claimRunsAcrossOrgs(db, now, 8)));
    while ((await claimRunsAcrossOrgs(db, now, 8)).length > 0);
    expect(await countRunning(org, slow)).toBe(7);
    const others =
      await query`delete from run_queue where state = 'running' and connection_id is distinct from ${slow} returning 1`;
    expect(others).toHaveLength(1);
    ended += others.length;
  }
  // Its runs of another lane take its other places.
  await query`update run_queue set kind = 'manual' where state = 'queued'`;
  while ((await claimRunsAcrossOrgs(db, now, 8)).length > 0);
  expect(await countRunning(org, slow)).toBe(14);
});
