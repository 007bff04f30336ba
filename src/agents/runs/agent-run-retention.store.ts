import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';

/** Removes runs of built-in agents that have ended. The days' figures stay. At most `limit`. */
export async function forgetAgentRunsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from agent_runs where (organization_id, id) in (
      select organization_id, id from agent_runs where started_at < ${before} and status <> 'running' limit ${limit})`.execute(
    tx,
  );
  return Number(gone.numAffectedRows ?? 0);
}
