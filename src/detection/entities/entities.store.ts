import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** The value list in which people state the domains and cloud accounts of the organization. */
const ownNamesList = 'own-domains';

/** Returns the domains and cloud accounts that people stated. */
export async function listOwnNames(tx: Tx, orgId: OrgId): Promise<string[]> {
  const rows = await queryRows<{ name: string }>(tx)`
    select v.name from value_lists l cross join lateral jsonb_array_elements_text(l.list_values::jsonb) as v (name)
    where l.organization_id = ${orgId} and l.name = ${ownNamesList}`;
  return rows.map(({ name }) => name);
}
