import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';

/** Marks segments as replaced whose events were all ingested before the given time. The next cleaning removes their files. Returns the number of segments. */
export async function expireSegmentsAcrossOrgs(tx: Tx, before: Date): Promise<number> {
  await sql`delete from log_batches where received_at < ${before}`.execute(tx);
  const { numAffectedRows } =
    await sql`update segments set replaced_at = now() where replaced_at is null and ingested_to < ${before}`.execute(
      tx,
    );
  return Number(numAffectedRows ?? 0);
}
