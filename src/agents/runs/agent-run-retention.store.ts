import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';

/** Deletes at most `limit` runs of built-in agents that have ended. The daily roll-up stays. Returns their number. */
export async function deleteOldAgentRunsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from agent_runs where (organization_id, id) in (
      select organization_id, id from agent_runs where started_at < ${before} and status <> 'running' limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}
