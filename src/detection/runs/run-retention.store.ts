import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import { deleteRowsWithValue, replaceValue } from '../../platform/db/erasure.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

async function count(statement: ReturnType<typeof sql>, tx: Tx): Promise<number> {
  return Number((await statement.execute(tx)).numAffectedRows ?? 0);
}

/** Removes candidates that made no hit, and steps of runs that made none. Those that still wait stay. At most `limit` of each. */
export async function deleteOldCandidatesAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await count(
    sql`delete from candidates where (organization_id, id) in (
      select organization_id, id from candidates where created_at < ${before} and hit_id is null and state <> 'pending' limit ${limit})`,
    tx,
  );
  const steps = await count(
    sql`delete from run_steps where (at, run_id, attempt, n) in (
      select at, run_id, attempt, n from run_steps s where at < ${before} and not exists (
        select from hit_occurrences o where o.organization_id = s.organization_id and o.run_id = s.run_id) limit ${limit})`,
    tx,
  );
  return Math.max(rows, steps);
}

/** Removes runs that have ended, with their steps. The days' figures stay. At most `limit`. */
export async function deleteOldRunsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  await sql`delete from run_steps where (at, run_id, attempt, n) in (
    select at, run_id, attempt, n from run_steps where at < ${before} limit ${limit})`.execute(tx);
  return count(
    sql`delete from runs where (due_at, id) in (
      select due_at, id from runs where due_at < ${before} and status not in ('queued', 'running') limit ${limit})`,
    tx,
  );
}

/** Removes what is remembered of windows further back than any category looks. At most `limit`. */
export function deleteOldMemoryAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  return count(
    sql`delete from memory where (organization_id, detection_id, generation, key, entity, window_from) in (
      select organization_id, detection_id, generation, key, entity, window_from from memory where window_from < ${before} limit ${limit})`,
    tx,
  );
}

/** Replaces a value in candidates, runs and steps, and deletes what memory has of it. Returns the numbers of rows. */
export async function eraseFromRuns(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ rows: number; runs: number; steps: number; memory: number }> {
  const replace = (table: string, columns: string[]) => replaceValue(tx, { orgId, table, columns }, value);
  const rows = await replace('candidates', ['entity', 'kind_key', 'facts', 'rows', 'verdict']);
  await replace('suppressions', ['facts']);
  const runs = await replace('runs', ['entities', 'custom_instructions', 'warnings', 'failure']);
  const steps = await replace('run_steps', ['body']);
  // Memory is deleted, because a replaced value would be a different fact.
  const memory = await deleteRowsWithValue(tx, { orgId, table: 'memory', columns: ['entity', 'value'] }, value);
  return { rows, runs, steps, memory };
}
