import { dirname } from 'node:path';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { writeManifest } from '../log-store/write-manifests.ts';
import { isPublished } from '../log-store/files/segment-file.ts';
import { duck, quoteIdentifier } from '../log-engine/sql/sql-text.ts';
import { searchLogs, type SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { listDatasetNames, listSegments, type SegmentRow } from '../log-store/segments.store.ts';
import { removeReplacedFilesOfDataset } from './clean-segments.ts';
import { mergeSegments } from './compact-segments.ts';
import { containsValueSql, type ErasureTarget } from './compact.store.ts';

const limits = { rowsMax: 1, groupsMax: 1, timeoutMs: 60_000 };
const allTime = { from: new Date(Date.UTC(1970, 0, 1)), to: new Date(Date.UTC(9999, 0, 1)) };
/** A segment may be merged into another one during a round, so a dataset is searched until nothing is found. */
const roundsMax = 5;

/**
 * Erases a value from all events that contain it in the given field, by replacing every occurrence in such an event with `[erased]`.
 * Rewrites the affected files and removes the old ones, including those that earlier compactions replaced. Returns the number of events changed.
 */
export async function eraseFromLogs(deps: SearchLogsDeps, orgId: OrgId, erased: ErasureTarget): Promise<number> {
  let events = 0;
  for (const dataset of await inOrg(deps.db, orgId, (tx) => listDatasetNames(tx, orgId))) {
    for (let round = 1; round <= roundsMax; round++) {
      const count = await eraseFromDataset(deps, orgId, dataset, erased);
      events += count;
      if (count === 0) break;
    }
    // Before files that it lists are removed.
    await writeManifest(deps, orgId, dataset);
    await removeReplacedFilesOfDataset(deps, orgId, dataset);
  }
  return events;
}

async function eraseFromDataset(
  deps: SearchLogsDeps,
  orgId: OrgId,
  dataset: string,
  erased: ErasureTarget,
): Promise<number> {
  const segments = await inOrg(deps.db, orgId, (tx) =>
    listSegments(tx, orgId, [dataset], { kind: 'event', ...allTime, ingestedBefore: allTime.to }),
  );
  let events = 0;
  for (const segment of segments) {
    const count = await countEvents(deps, orgId, segment, erased);
    if (count === 0) continue;
    const target = { folder: dirname(segment.path), published: isPublished(segment.path) };
    await mergeSegments(deps, orgId, { dataset, segments: [segment], target, erased });
    events += count;
  }
  return events;
}

async function countEvents(
  deps: SearchLogsDeps,
  orgId: OrgId,
  segment: SegmentRow,
  erased: ErasureTarget,
): Promise<number> {
  const query = duck`SELECT count(*) AS n FROM ${quoteIdentifier(segment.dataset)} WHERE ${containsValueSql(erased)}`;
  const window = { ...allTime, clock: 'event' as const };
  const { rows } = await searchLogs(deps, orgId, { query, window, limits, segments: [segment] });
  return Number(rows[0]?.['n'] ?? 0);
}
