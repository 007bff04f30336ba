import { SiemError, type QueryWindow, type SiemConnection } from '../../detection/siem/connector.ts';
import type { RemoteSiemType } from '../../detection/siem/connectors/registry.ts';
import type { SweptDataset, SweepTarget } from './sweep-targets.ts';
import { findSightings, type Sighting } from './find-sightings.ts';
import { toSearchTerms, buildSweepQuery } from './sweep-query.ts';

export type SweepResult = {
  sightings: Sighting[];
  /** The number of queries sent. */
  queries: number;
  /** False if the sweep has to be repeated. A dataset that rejects its query is skipped and does not count. */
  isComplete: boolean;
  /** Whether the sweep stopped because the hour's queries were used up. */
  isOutOfQueries: boolean;
  /** A message for the organization's analysts. */
  error: string | null;
};

type SweepRequest = {
  kind: RemoteSiemType | 'local';
  /** Targets with distinct values. Each batch is one query. */
  batches: SweepTarget[][];
  targets: SweepTarget[];
  queriesMax: number;
  datasets: readonly SweptDataset[];
  window: QueryWindow;
  signal: AbortSignal;
};

const limits = { rowsMax: 500, groupsMax: 500, timeoutMs: 60_000 };

/**
 * Searches a window of datasets. Skips a dataset that rejects its query and reports it in `error`. Throws a SiemError if the SIEM itself fails.
 */
export async function runSweepQueries(connection: SiemConnection, request: SweepRequest): Promise<SweepResult> {
  const { kind, batches, targets, queriesMax, datasets, window, signal } = request;
  const result: SweepResult = { sightings: [], queries: 0, isComplete: true, isOutOfQueries: false, error: null };
  for (const dataset of datasets) {
    const queue = [...batches];
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const query = buildSweepQuery(kind, dataset, toSearchTerms(batch));
      if (query === undefined) continue;
      if (result.queries >= queriesMax) {
        const error = 'The query limit of this hour is used up. The sweep continues later.';
        return { ...result, isComplete: false, isOutOfQueries: true, error };
      }
      result.queries += 1;
      const outcome = await searchUnlessRejected(() => connection.search(query, window, limits, signal));
      if ('rejection' in outcome) {
        result.error = `${dataset.dataset}: ${outcome.rejection}`.slice(0, 1_000);
        break;
      }
      const sightings = findSightings(outcome.rows, dataset, targets);
      result.sightings.push(...sightings);
      // Rows of a frequent value can fill the result and hide other values: search again for the values not seen yet.
      const unseen = removeSeen(batch, sightings);
      if (outcome.truncated && unseen.length > 0 && unseen.length < batch.length) queue.push(unseen);
    }
  }
  return result;
}

function removeSeen(batch: SweepTarget[], sightings: Sighting[]): SweepTarget[] {
  const seen = new Set(sightings.map(({ kind, value }) => `${kind} ${value}`));
  return batch.filter(({ kind, value }) => !seen.has(`${kind} ${value}`));
}

async function searchUnlessRejected(search: () => ReturnType<SiemConnection['search']>) {
  try {
    return await search();
  } catch (error) {
    if (error instanceof SiemError && error.failure.blame === 'author') return { rejection: error.failure.message };
    throw error;
  }
}
