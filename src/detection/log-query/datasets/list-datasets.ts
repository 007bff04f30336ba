import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { loadCatalog, loadStatistics, type CatalogCache } from '../../log-store/catalog/catalog.store.ts';
import { listCatalogColumns } from '../../log-store/catalog/columns.ts';
import { listDatasetRows } from '../../log-store/segments.store.ts';
import type { DatasetList } from '../../log-store/catalog/datasets.schema.ts';
import { listShortfalls } from './log-health.store.ts';

export type ListDatasetsDeps = { db: Db; logCatalogs: CatalogCache };

/** Returns every dataset that has at least one event, ordered by name, with its columns. */
export async function listDatasets({ db, logCatalogs }: ListDatasetsDeps, orgId: OrgId): Promise<DatasetList> {
  return inOrg(db, orgId, async (tx) => {
    const shortfalls = new Map(
      (await listShortfalls(tx, orgId)).map(({ dataset, ...shortfall }) => [dataset, shortfall]),
    );
    const datasets = [];
    for (const row of await listDatasetRows(tx, orgId)) {
      const fields = await loadCatalog(tx, logCatalogs, { orgId, dataset: row.name, version: row.version });
      datasets.push({
        name: row.name,
        events: row.events,
        firstEventAt: row.first?.toISOString() ?? null,
        lastEventAt: row.last?.toISOString() ?? null,
        lastIngestedAt: row.ingested?.toISOString() ?? null,
        shortfall: shortfalls.get(row.name) ?? null,
        columns: listCatalogColumns(fields, await loadStatistics(tx, orgId, row.name)),
      });
    }
    return { datasets };
  });
}
