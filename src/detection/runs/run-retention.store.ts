import { sql } from 'kysely';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import type { Tx } from '../../platform/db/db.ts';
import { deleteRowsWithValue, replaceValue } from '../../platform/db/erasure.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { deleteOldCallsAcrossOrgs } from './responses/agent-calls.store.ts';
import { deleteOldEventsAcrossOrgs } from '../detections/triggers/agent-triggers.store.ts';

async function executeAndCount(tx: Tx, statement: ReturnType<typeof sql>): Promise<number> {
  return Number((await statement.execute(tx)).numAffectedRows ?? 0);
}

/** Deletes judged candidates without a hit, with their cases, and steps of runs without a hit, at most `limit` of each. Returns the larger number. */
export async function deleteOldCandidatesAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const candidates = await executeAndCount(
    tx,
    sql`delete from candidates where (organization_id, id) in (
      select organization_id, id from candidates where created_at < ${expiry.before} and ${belongsTo(expiry)} and hit_id is null and state not in ('pending', 'review') limit ${limit})`,
  );
  const steps = await executeAndCount(
    tx,
    sql`delete from run_steps where (at, run_id, attempt, n) in (
      select at, run_id, attempt, n from run_steps s where at < ${expiry.before} and ${belongsTo(expiry)} and not exists (
        select from hit_occurrences o where o.organization_id = s.organization_id and o.run_id = s.run_id) limit ${limit})`,
  );
  return Math.max(candidates, steps);
}

/** Deletes at most `limit` runs that have ended, with steps and events of triggers. The daily roll-up stays. Returns the number of runs. */
export async function deleteOldRunsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  await sql`delete from run_steps where (at, run_id, attempt, n) in (
    select at, run_id, attempt, n from run_steps
      where at < ${expiry.before} and ${belongsTo(expiry)} limit ${limit})`.execute(tx);
  await deleteOldEventsAcrossOrgs(tx, expiry, limit);
  await deleteOldCallsAcrossOrgs(tx, expiry, limit);
  return executeAndCount(
    tx,
    sql`delete from runs where (due_at, id) in (
      select due_at, id from runs where due_at < ${expiry.before} and ${belongsTo(expiry)} and status not in ('queued', 'running') limit ${limit})`,
  );
}

/** Deletes memory of windows that no category compares with any more, at most `limit` rows. Returns the number of rows. */
export function deleteOldMemoryAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  return executeAndCount(
    tx,
    sql`delete from memory where (organization_id, detection_id, generation, key, entity, window_from) in (
      select organization_id, detection_id, generation, key, entity, window_from from memory where window_from < ${before} limit ${limit})`,
  );
}

/** Replaces a value in candidates, runs and steps, and deletes what memory has of it. Returns the numbers of rows. */
export async function eraseFromRuns(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ rows: number; runs: number; steps: number; memory: number }> {
  const replace = (table: string, columns: string[]) => replaceValue(tx, { orgId, table, columns }, value);
  const rows = await replace('candidates', ['entity', 'kind_key', 'facts', 'rows', 'verdict', 'observations']);
  await replace('review_cases', ['reason', 'second_verdict']);
  await replace('suppressions', ['facts']);
  const runs = await replace('runs', ['entities', 'custom_instructions', 'event', 'warnings', 'failure']);
  await replace('agent_calls', ['input', 'reason', 'result']);
  const steps = await replace('run_steps', ['body']);
  // Memory is deleted, because a replaced value would be a different fact. It contains names in lower case.
  let memory = 0;
  for (const spelling of new Set([value, value.toLowerCase()]))
    memory += await deleteRowsWithValue(tx, { orgId, table: 'memory', columns: ['entity', 'value'] }, spelling);
  return { rows, runs, steps, memory };
}
