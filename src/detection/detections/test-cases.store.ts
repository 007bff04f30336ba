import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { TestSet } from './test-cases.schema.ts';
import type { DetectionKey } from '../scheduling/timeline.ts';

/** Returns a detection's tests, or an empty set. */
export async function findTests(tx: Tx, key: DetectionKey): Promise<Required<TestSet>> {
  const found = await queryRow<{ cases: string; localQuery: string | null }>(tx)`
      select cases, local_query as "localQuery" from detection_tests
      where organization_id = ${key.orgId} and detection_id = ${key.detectionId}`;
  if (!found) return { tests: [], localQuery: null };
  return { tests: JSON.parse(found.cases) as TestSet['tests'], localQuery: found.localQuery };
}

/** Returns the statement that stores the tests of a detection. */
export const storeTestsSql = (
  key: DetectionKey,
  { tests, localQuery = null }: TestSet,
  now: Date,
): RawBuilder<unknown> => sql`
    insert into detection_tests (organization_id, detection_id, local_query, cases, updated_at)
    values (${key.orgId}, ${key.detectionId}, ${localQuery}, ${JSON.stringify(tests)}, ${now})
    on conflict (organization_id, detection_id) do update set local_query = excluded.local_query, cases = excluded.cases,
      updated_at = excluded.updated_at`;

/** Returns the tests of all detections that have any, by detection id. */
export async function listAllTests(tx: Tx, orgId: OrgId): Promise<Map<string, Required<TestSet>>> {
  const found = await queryRows<{ id: string; cases: string; localQuery: string | null }>(tx)`
      select detection_id as id, cases, local_query as "localQuery" from detection_tests where organization_id = ${orgId}`;
  return new Map(
    found.map(({ id, cases, localQuery }) => [id, { tests: JSON.parse(cases) as TestSet['tests'], localQuery }]),
  );
}
