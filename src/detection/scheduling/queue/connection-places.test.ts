import { expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../../test/support/database.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs } from './claim-runs.store.ts';

const { db, query } = await testDatabase(8);
const now = new Date('2026-03-02T01:00:00Z');

async function addConnection(orgId: OrgId, places: number): Promise<string> {
  const id = uuidv7();
  await query`
    insert into connections (organization_id, id, kind, name, settings, sealed, clock, delay_minutes, recheck_minutes, places, created_at, updated_at)
    values (${orgId}, ${id}, 'splunk', ${id}, '{}', '', 'event', 0, 0, ${places}, now(), now())`;
  return id;
}

/** Queues a run of each of `count` detections. `startAt` orders them. */
async function queueRuns(orgId: OrgId, connectionId: string, { count, startAt }: { count: number; startAt: Date }) {
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
