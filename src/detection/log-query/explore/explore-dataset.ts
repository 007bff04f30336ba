import { inOrg } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { readTimeRange } from '../../../platform/lib/page-request.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { QueryRow } from '../../siem/connector.ts';
import { toQueryProblem } from '../../siem/siem-errors.ts';
import { loadCatalog } from '../../log-store/catalog/catalog.store.ts';
import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import { checkDatasetName } from '../../log-store/catalog/dataset-name.ts';
import { authorError } from '../../log-engine/engine-failures.ts';
import { searchLogs, type SearchLogsDeps } from '../search/search-logs.ts';
import { findDatasetStates } from '../../log-store/segments.store.ts';
import type { ExploreQuery } from './explore.schema.ts';

const timeoutMs = 30_000;

/** A dataset of the embedded store and the window to explore. `where` is the condition as SQL, or empty. */
export type ExploredDataset = { dataset: string; from: Date; to: Date; where: string; fields: CatalogField[] };

/** Reads the request for one dataset. Throws 404 if it never had an event, and 400 for an invalid name or window. */
export async function openDataset(
  { db, clock, logCatalogs }: SearchLogsDeps,
  orgId: OrgId,
  { dataset, query }: { dataset: string; query: ExploreQuery },
): Promise<ExploredDataset> {
  checkDatasetName(dataset);
  const range = readTimeRange(query, { now: clock(), defaultDays: 1, maxDays: 366 });
  return inOrg(db, orgId, async (tx) => {
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    if (!state || state.events === 0) throw appError('not_found', `Dataset ${dataset} not found.`);
    const fields = await loadCatalog(tx, logCatalogs, { orgId, dataset, version: state.version });
    // On lines of its own, so that a comment in it ends with it.
    const where = query.where === undefined ? '' : `where (\n${query.where}\n)`;
    return { ...range, dataset, where, fields };
  });
}

/** Runs a query over the window of a dataset. Throws a 422 that points to `where` if the query fails, which without a condition it does not. */
export async function queryDataset(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { dataset: { from, to }, query, rowsMax }: { dataset: ExploredDataset; query: string; rowsMax: number },
  signal: AbortSignal,
): Promise<QueryRow[]> {
  const window = { from, to, clock: 'event' as const };
  const limits = { rowsMax, groupsMax: rowsMax, timeoutMs };
  try {
    const { rows, warnings = [] } = await searchLogs(deps, orgId, { query, window, limits }, signal);
    const unknown = warnings.find(({ code }) => code === 'unknown_column');
    if (unknown) throw authorError(unknown.code, unknown.detail);
    return rows;
  } catch (error) {
    throw toQueryProblem(error, 'query/where');
  }
}
