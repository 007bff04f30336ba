import type { Tx } from '../../../platform/db/db.ts';
import { addExceptionMatches } from '../../detections/exceptions/exceptions.store.ts';
import { insertHits, insertOccurrences, type NewHit } from '../../hits/insert-hits.store.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import { lockPendingCandidates, markJudged, upsertSuppressions } from './candidates.store.ts';
import type { JudgedResolution, Resolution } from './resolve-candidates.ts';

/** `runId` is the run that judged. If it is null, no run did, and occurrences count for the run that found the candidate. */
type JudgedDetection = DetectionKey & { runId: string | null };

/** Stores the results of resolutions and returns them, except those of candidates that were resolved meanwhile. */
export async function storeResolutions(
  tx: Tx,
  detection: JudgedDetection,
  resolutions: Resolution[],
  now: Date,
): Promise<Resolution[]> {
  const { orgId, detectionId } = detection;
  const pendingIds = await lockPendingCandidates(
    tx,
    orgId,
    resolutions.map(({ candidate }) => candidate.id),
  );
  const stored = resolutions.filter(({ candidate }) => pendingIds.has(candidate.id));
  if (stored.length === 0) return [];
  await addExceptionMatches(tx, detection, listExceptionIds(stored), now);
  const newHits = new Map<string, NewHit>();
  for (const resolution of stored) {
    if (resolution.outcome !== 'judged' || !resolution.verified.triggered) continue;
    // If several candidates share a hit, the first one creates it.
    if (!newHits.has(resolution.hitKey)) newHits.set(resolution.hitKey, toNewHit(detectionId, resolution));
  }
  const hitIds = await insertHits(tx, orgId, [...newHits.values()], now);
  const withHits = stored.map((resolution) => ({ resolution, hitId: findHitId(resolution, hitIds) }));
  const occurrences = withHits.flatMap(({ resolution: { candidate }, hitId }) => {
    const { runId, windowFrom, windowTo } = candidate;
    return hitId === null ? [] : [{ hitId, runId: detection.runId ?? runId, windowFrom, seenAt: windowTo }];
  });
  await insertOccurrences(tx, orgId, occurrences, now);
  const suppressions = withHits.flatMap(({ resolution, hitId }) =>
    resolution.outcome === 'judged' && resolution.suppression ? [{ ...resolution.suppression, hitId }] : [],
  );
  // A later suppression replaces an earlier one with the same key.
  const suppressionsByKey = new Map(suppressions.map((suppression) => [suppression.key, suppression]));
  await upsertSuppressions(tx, detection, [...suppressionsByKey.values()]);
  const judged = withHits.map(({ resolution, hitId }) => {
    const id = resolution.candidate.id;
    return resolution.outcome === 'judged'
      ? { id, state: 'judged' as const, verdict: resolution.verified.verdict, hitId }
      : { id, state: 'suppressed' as const, verdict: null, hitId };
  });
  await markJudged(tx, { orgId, runId: detection.runId, now }, judged);
  return stored;
}

const listExceptionIds = (resolutions: Resolution[]): string[] =>
  resolutions.flatMap((resolution) => (resolution.outcome === 'excepted' ? [resolution.exceptionId] : []));

function findHitId(resolution: Resolution, hitIds: Map<string, string>): string | null {
  switch (resolution.outcome) {
    case 'negative':
    case 'excepted':
      return null;
    case 'judged':
      return hitIds.get(resolution.hitKey) ?? null;
    case 'occurrence':
      return resolution.hitId ?? (resolution.hitKey === null ? null : (hitIds.get(resolution.hitKey) ?? null));
  }
}

/** Returns the hit of a candidate with a triggered verdict. `judged` is false if the verdict comes from its facts alone. */
function toNewHit(detectionId: string, { candidate, hitKey, verified, judged }: JudgedResolution): NewHit {
  const { triggered: _, ...verdict } = verified.verdict;
  return {
    ...verdict,
    key: hitKey,
    detectionId,
    kind: candidate.kind,
    rows: candidate.rows,
    facts: candidate.facts,
    judged,
    modelDisagrees: verified.modelDisagrees,
    windowFrom: candidate.windowFrom,
    windowTo: candidate.windowTo,
    late: candidate.late,
  };
}
