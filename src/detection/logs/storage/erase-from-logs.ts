import { inOrg } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { loadCatalog } from '../catalog/catalog.store.ts';
import { mergeSegments } from './compact-segments.ts';
import { containsValueSql, type ErasureTarget } from './compact.sql.ts';
import type { SearchDeps } from '../log-folder.ts';
import { searchLogs } from '../query/search-logs.ts';
import { findDatasetStates, listDatasetNames, listSegments, type SegmentRow } from './segments.store.ts';

const limits = { rowsMax: 1, groupsMax: 1, timeoutMs: 60_000 };
const always = { from: new Date(Date.UTC(1970, 0, 1)), to: new Date(Date.UTC(9999, 0, 1)) };
// A segment that was merged into another meanwhile is looked for again.
const roundsMax = 5;

/**
 * Takes a value out of all events that hold it in a field: wherever it stands in such an event `[erased]` stands in its place. Files
 * are written anew; the old ones go with the next cleaning. Answers how many events there were.
 */
export async function eraseFromLogs(deps: SearchDeps, orgId: OrgId, erased: ErasureTarget): Promise<number> {
  let events = 0;
  for (const dataset of await inOrg(deps.db, orgId, (tx) => listDatasetNames(tx, orgId))) {
    for (let round = 1; round <= roundsMax; round++) {
      const found = await eraseFromDataset(deps, orgId, dataset, erased);
      events += found;
      if (found === 0) break;
    }
  }
  return events;
}

async function eraseFromDataset(
  deps: SearchDeps,
  orgId: OrgId,
  dataset: string,
  erased: ErasureTarget,
): Promise<number> {
  const segments = await inOrg(deps.db, orgId, (tx) =>
    listSegments(tx, orgId, [dataset], { kind: 'event', ...always, ingestedBefore: always.to }),
  );
  let events = 0;
  for (const segment of segments) {
    const found = await countEvents(deps, orgId, segment, erased);
    if (found === 0) continue;
    const fields = await inOrg(deps.db, orgId, async (tx) => {
      const [state] = await findDatasetStates(tx, orgId, [dataset]);
      return loadCatalog(tx, orgId, dataset, state?.version ?? 0);
    });
    await mergeSegments(deps, orgId, { dataset, segments: [segment], fields, erased });
    events += found;
  }
  return events;
}

async function countEvents(
  deps: SearchDeps,
  orgId: OrgId,
  segment: SegmentRow,
  erased: ErasureTarget,
): Promise<number> {
  const query = `SELECT count(*) AS n FROM ${segment.dataset} WHERE ${containsValueSql(erased)}`;
  const window = { ...always, clock: 'event' as const };
  const { rows } = await searchLogs(deps, orgId, { query, window, limits, segments: [segment] });
  return Number(rows[0]?.['n'] ?? 0);
}
