import type { Db } from '../../../../platform/db/db.ts';
import type { PullResult } from '../../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { upsertPredictions } from '../../../items/cve-predictions.store.ts';
import type { PredictionList } from '../../../model/source-record.ts';
import { renewClaim, withSourceAcrossOrgs } from '../../sources.store.ts';

type ReadPull = { predictions: PredictionList | undefined; result: PullResult };

/** Stores the predictions of a source in batches. Returns the result of the pull with them, or undefined if the lease was lost. */
export async function applyPredictions(
  db: Db,
  source: SourceRow,
  { predictions, result }: ReadPull,
): Promise<PullResult | undefined> {
  if (!predictions) return result;
  const { scoredAt, batches } = predictions;
  let { added, corrected } = result;
  for (const batch of batches) {
    const written = await withSourceAcrossOrgs(db, source, async (tx) => {
      const claimed = await renewClaim(tx, source, source.worker!);
      return claimed && upsertPredictions(tx, source.pool_id, { batch, scoredAt });
    });
    if (!written) return undefined;
    added += written.added;
    corrected += written.changed;
  }
  return { ...result, added, corrected };
}
