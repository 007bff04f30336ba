import { inOrg } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { loadCatalog } from './catalog.store.ts';
import { listCatalogColumns } from './columns.ts';
import { listDatasetRows } from './datasets.store.ts';
import type { LogDeps } from '../log-folder.ts';
import type { DatasetList } from '../logs.schema.ts';

/** Every dataset that has an event, by name, with what it holds. */
export async function listDatasets({ db }: Pick<LogDeps, 'db'>, orgId: OrgId): Promise<DatasetList> {
  return inOrg(db, orgId, async (tx) => {
    const found = await listDatasetRows(tx, orgId);
    const datasets = [];
    for (const row of found) {
      const fields = await loadCatalog(tx, orgId, row.name, row.version);
      datasets.push({
        name: row.name,
        events: row.events,
        firstEventAt: row.first?.toISOString() ?? null,
        lastEventAt: row.last?.toISOString() ?? null,
        lastIngestedAt: row.ingested?.toISOString() ?? null,
        columns: listCatalogColumns(fields),
      });
    }
    return { datasets };
  });
}
