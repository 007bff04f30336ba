import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** SQL that finds columns containing the value, and SQL that replaces the value in a column. */
type ErasureSql = {
  holds: (columns: string[]) => RawBuilder<boolean>;
  without: (column: string) => RawBuilder<string>;
};

/** Deletes exceptions that contain a value and replaces it in test cases. Returns how many rows of each changed. */
export async function eraseFromDetections(
  tx: Tx,
  orgId: OrgId,
  { holds, without }: ErasureSql,
): Promise<{ exceptions: number; tests: number }> {
  const exceptions =
    await sql`delete from exceptions where organization_id = ${orgId} and ${holds(['entity', 'value', 'reason'])}`.execute(
      tx,
    );
  const tests =
    await sql`update detection_tests set cases = ${without('cases')} where organization_id = ${orgId} and ${holds(['cases'])}`.execute(
      tx,
    );
  return { exceptions: Number(exceptions.numAffectedRows ?? 0), tests: Number(tests.numAffectedRows ?? 0) };
}
