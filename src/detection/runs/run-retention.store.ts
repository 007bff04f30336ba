import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

async function count(statement: ReturnType<typeof sql>, tx: Tx): Promise<number> {
  return Number((await statement.execute(tx)).numAffectedRows ?? 0);
}

/** Removes candidates that made no hit, and steps of runs that made none. Those that still wait stay. At most `limit` of each. */
export async function forgetRowsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
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
export async function forgetRunsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  await sql`delete from run_steps where (at, run_id, attempt, n) in (
    select at, run_id, attempt, n from run_steps where at < ${before} limit ${limit})`.execute(tx);
  return count(
    sql`delete from runs where (due_at, id) in (
      select due_at, id from runs where due_at < ${before} and status not in ('queued', 'running') limit ${limit})`,
    tx,
  );
}

/** Removes what is remembered of windows further back than any category looks. At most `limit`. */
export function forgetMemoryAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  return count(
    sql`delete from memory where (organization_id, detection_id, generation, key, entity, window_from) in (
      select organization_id, detection_id, generation, key, entity, window_from from memory where window_from < ${before} limit ${limit})`,
    tx,
  );
}

type Erasing = { holds: (columns: string[]) => RawBuilder<boolean>; without: (column: string) => RawBuilder<string> };

// Memory is removed, not changed: another value under its key would be another fact.
const texts: Record<string, string[]> = {
  candidates: ['entity', 'kind_key', 'facts', 'rows', 'verdict'],
  suppressions: ['facts'],
  runs: ['entities', 'custom_instructions', 'warnings', 'failure'],
  run_steps: ['body'],
  outbox: ['body'],
};

/** Replaces a value in rows, verdicts, runs, steps and the outbox, and forgets what memory holds of it. Answers how many rows of each. */
export async function eraseFromRuns(
  tx: Tx,
  orgId: OrgId,
  { holds, without }: Erasing,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, columns] of Object.entries(texts)) {
    counts[table] = await count(
      sql`update ${sql.table(table)} set ${sql.join(columns.map((name) => sql`${sql.ref(name)} = ${without(name)}`))}
        where organization_id = ${orgId} and ${holds(columns)}`,
      tx,
    );
  }
  counts['memory'] = await count(
    sql`delete from memory where organization_id = ${orgId} and ${holds(['entity', 'value'])}`,
    tx,
  );
  return counts;
}
