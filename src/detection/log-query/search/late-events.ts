import { inOrg } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { LateEvents, TimeBounds } from '../../siem/connector.ts';
import { hasSegments } from '../../log-store/segments.store.ts';
import { duck, quoteIdentifier, type SqlText } from '../../log-engine/sql/sql-text.ts';
import { distinctDatasets, inspectQuery } from './inspect-query.ts';
import { searchLogs, type SearchLogsDeps } from './search-logs.ts';
import { promptMs } from '../../log-engine/sql/slot-time.ts';

const bucketMs = 15 * 60_000;
const bucketsMax = 5_000;

/**
 * Returns the late events that arrived within a window in the datasets of a query, in quarters of an hour of their own time, newest first
 * and at most 5,000. Late is more than `lagMsMin`, 15 minutes by default. Usually there are none, which the bounds of the segments show without reading them.
 */
export async function findLateEvents(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { query, window, lagMsMin = promptMs }: { query: string; window: TimeBounds; lagMsMin?: number | undefined },
  signal?: AbortSignal,
): Promise<LateEvents[]> {
  const datasets = distinctDatasets((await inspectQuery(deps, orgId, query, signal)).sources);
  const filter = { kind: 'late', ...window, lagMsMin } as const;
  if (!(await inOrg(deps.db, orgId, (tx) => hasSegments(tx, orgId, datasets, filter)))) return [];
  const found: LateEvents[] = [];
  for (const dataset of datasets) {
    const input = {
      query: lateEventsSql(dataset, lagMsMin),
      window: { ...window, clock: 'ingest' as const },
      limits: { rowsMax: bucketsMax, groupsMax: bucketsMax, timeoutMs: 60_000 },
    };
    for (const row of (await searchLogs(deps, orgId, input, signal)).rows) {
      const from = new Date(Number(row['bucket']) * bucketMs);
      const to = new Date(from.getTime() + bucketMs);
      found.push({ from, to, events: Number(row['events']), lagMs: Number(row['lag']) });
    }
  }
  return found;
}

const lateEventsSql = (dataset: string, lagMsMin: number): SqlText =>
  duck`SELECT epoch_ms(_time) // ${bucketMs} AS bucket, count(*) AS events, max(epoch_ms(_ingested) - epoch_ms(_time)) AS lag
   FROM ${quoteIdentifier(dataset)} WHERE epoch_ms(_ingested) - epoch_ms(_time) > ${lagMsMin}
   GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucketsMax}`;
