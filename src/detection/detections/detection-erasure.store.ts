import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

type Erasing = { holds: (columns: string[]) => RawBuilder<boolean>; without: (column: string) => RawBuilder<string> };

/** Removes exceptions that name a value and replaces it in test cases. Answers how many of each. */
export async function eraseFromDetections(
  tx: Tx,
  orgId: OrgId,
  { holds, without }: Erasing,
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
