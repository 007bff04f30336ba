import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { TestSet } from './test-cases.schema.ts';

type Ref = { orgId: OrgId; detectionId: string };

/** A detection's tests; none: an empty set. */
export async function findTests(tx: Tx, ref: Ref): Promise<Required<TestSet>> {
  const found = await row(
    tx,
    sql<{ cases: string; localQuery: string | null }>`
      select cases, local_query as "localQuery" from detection_tests
      where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}`,
  );
  if (!found) return { tests: [], localQuery: null };
  return { tests: JSON.parse(found.cases) as TestSet['tests'], localQuery: found.localQuery };
}

export async function storeTests(tx: Tx, ref: Ref, { tests, localQuery = null }: TestSet, now: Date): Promise<void> {
  await sql`
    insert into detection_tests (organization_id, detection_id, local_query, cases, updated_at)
    values (${ref.orgId}, ${ref.detectionId}, ${localQuery}, ${JSON.stringify(tests)}, ${now})
    on conflict (organization_id, detection_id) do update set local_query = excluded.local_query, cases = excluded.cases,
      updated_at = excluded.updated_at`.execute(tx);
}

/** The tests of all detections that have some. */
export async function listAllTests(tx: Tx, orgId: OrgId): Promise<Map<string, Required<TestSet>>> {
  const found = await rows(
    tx,
    sql<{ id: string; cases: string; localQuery: string | null }>`
      select detection_id as id, cases, local_query as "localQuery" from detection_tests where organization_id = ${orgId}`,
  );
  return new Map(
    found.map(({ id, cases, localQuery }) => [id, { tests: JSON.parse(cases) as TestSet['tests'], localQuery }]),
  );
}
