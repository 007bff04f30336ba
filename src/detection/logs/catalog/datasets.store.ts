import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

export type DatasetRow = {
  name: string;
  events: number;
  version: number;
  first: Date | null;
  last: Date | null;
  ingested: Date | null;
};

/** Returns the datasets that have at least one event, ordered by name. */
export async function listDatasetRows(tx: Tx, orgId: OrgId): Promise<DatasetRow[]> {
  return queryRows<DatasetRow>(
    tx,
    sql<DatasetRow>`
      select name, events, catalogue_version as version, first_event_at as first, last_event_at as last, last_ingested_at as ingested
      from datasets where organization_id = ${orgId} and events > 0 order by name`,
  );
}
