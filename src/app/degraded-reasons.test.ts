import { expect, test } from 'vitest';
import { newAgentId } from '../../test/support/models/agent-steps.ts';
import { newOrgId, testDatabase } from '../../test/support/database.ts';
import { uuidv7 } from '../platform/lib/ids.ts';
import { listDegradedReasons } from './degraded-reasons.ts';

const { db, query } = await testDatabase();
const guards = { clockGuard: { check: () => true, reason: () => null } };
const diskGuard = { reason: () => Promise.resolve(null) } as never;

/** Queues a run that could have started some minutes ago. With an alias, it has waited so long for that model. */
async function queueRun(minutes: number, { alias = '', connectionId = null as string | null } = {}) {
  const orgId = await newOrgId(db);
  const at = new Date(Date.now() - minutes * 60_000);
  await query`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, model_alias, retry_at, connection_id)
    values (${orgId}, ${uuidv7()}, ${await newAgentId(db, orgId)}, 'schedule', ${at}, ${at}, ${alias}, ${alias === '' ? null : at}, ${connectionId})`;
  return { orgId, at: at.toISOString() };
}

test('names both queues in which runs are late, and no organization', async () => {
  const list = () => listDegradedReasons({ db, diskGuard, ...guards });
  await queueRun(20);
  await queueRun(20, { alias: 'quick' });
  const { orgId } = await queueRun(90);
  await query`update organizations set suspended_at = now() where id = ${orgId}`;
  const connectionId = uuidv7();
  const { orgId: paused } = await queueRun(80, { connectionId });
  await query`
    insert into connections (organization_id, id, kind, name, settings, sealed, clock, delay_minutes, recheck_minutes, places, created_at, updated_at)
    values (${paused}, ${connectionId}, 'splunk', 's', '{}', '', 'event', 0, 0, 4, now(), now())`;
  await query`insert into connection_pauses (organization_id, connection_id, kind, message, since_at, check_at)
    values (${paused}, ${connectionId}, 'unavailable', 'x', now(), now())`;
  expect(await list()).toEqual([]);
  const [examine, judge] = [await queueRun(45), await queueRun(40, { alias: 'slow' })];
  const reasons = await list();
  expect(reasons).toHaveLength(2);
  expect(reasons[0]).toContain(`to be examined since ${examine.at}`);
  expect(reasons[1]).toContain(`to be judged by the model alias "slow" since ${judge.at}`);
});
