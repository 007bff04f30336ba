import type { Tx } from '../../../../platform/db/db.ts';
import { countRows } from '../../../analysis/exceptions.ts';
import { addExceptionMatches, type MutedCandidate } from '../../../detections/exceptions/exceptions.store.ts';
import { assignGroups } from '../../../hits/groups.store.ts';
import { insertHits, insertOccurrences, type NewHit } from '../../../hits/write-hits.store.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';
import { fireHitTriggers } from '../../triggers/fire-triggers.ts';
import { listCited } from '../../../verdicts/observation.ts';
import { lockCandidates, markJudged, type JudgedCandidate, type OpenState } from '../candidates.store.ts';
import { openCases } from '../review-cases.store.ts';
import { isHeld, type JudgedResolution, type Resolution } from './resolve-candidates.ts';
import { upsertSuppressions } from './suppressions.store.ts';

/**
 * `runId` is the run that judged. If it is null, no run did, and occurrences count for the run that found the candidate. `state` is what the candidates
 * were before: `pending` by default. Candidates in another state keep the verdict that they have.
 */
type JudgedDetection = DetectionKey & { runId: string | null; state?: OpenState };

/**
 * Stores the results of resolutions and returns them, except those of candidates that were resolved meanwhile. Candidates that the judge left to a
 * person become cases of the review queue.
 */
export async function storeResolutions(
  tx: Tx,
  detection: JudgedDetection,
  resolutions: Resolution[],
  now: Date,
): Promise<Resolution[]> {
  const { orgId, detectionId, state = 'pending' } = detection;
  const ids = resolutions.map(({ candidate }) => candidate.id);
  const openIds = await lockCandidates(tx, orgId, { ids, state });
  const stored = resolutions.filter(({ candidate }) => openIds.has(candidate.id));
  if (stored.length === 0) return [];
  await addExceptionMatches(tx, detection, listMuted(stored), now);
  const newHits = new Map<string, NewHit>();
  for (const resolution of stored) {
    if (resolution.outcome !== 'judged' || !resolution.verdict.triggered) continue;
    // If several candidates share a hit, the first one creates it.
    if (!newHits.has(resolution.hitKey)) newHits.set(resolution.hitKey, toNewHit(detectionId, resolution));
  }
  const hitIds = await insertHits(tx, orgId, [...newHits.values()], now);
  await assignGroups(
    tx,
    detection,
    [...newHits.values()].map(({ windowFrom: from, windowTo: to }) => ({ from, to })),
    now,
  );
  const withHits = stored.map((resolution) => ({ resolution, hitId: findHitId(resolution, hitIds) }));
  const occurrences = withHits.flatMap(({ resolution: { candidate }, hitId }) => {
    const { runId, windowFrom, windowTo } = candidate;
    return hitId === null ? [] : [{ hitId, runId: detection.runId ?? runId, windowFrom, seenAt: windowTo }];
  });
  await insertOccurrences(tx, orgId, occurrences, now);
  await fireHitTriggers(tx, orgId, [...hitIds.values()], now);
  const suppressions = withHits.flatMap(({ resolution, hitId }) =>
    resolution.outcome === 'judged' && resolution.suppression ? [{ ...resolution.suppression, hitId }] : [],
  );
  // Several candidates of a window can share a key. The last one counts.
  const byKeyAndWindow = new Map(suppressions.map((one) => [`${one.key} ${one.sinceAt.getTime()}`, one]));
  await upsertSuppressions(tx, detection, [...byKeyAndWindow.values()]);
  const judged = withHits.map(({ resolution, hitId }) => {
    const one = toJudgedCandidate(resolution, hitId);
    return state === 'pending' ? one : { ...one, verdict: null };
  });
  await markJudged(tx, { orgId, runId: detection.runId, now }, judged);
  await openCases(tx, detection, stored.filter(isUndecided), now);
  return stored;
}

const listMuted = (resolutions: Resolution[]): MutedCandidate[] =>
  resolutions.flatMap((resolution) => {
    if (resolution.outcome !== 'excepted') return [];
    const { id, rows, facts } = resolution.candidate;
    return [{ exceptionId: resolution.exceptionId, candidateId: id, rows: countRows({ rows, facts }) }];
  });

const isUndecided = (resolution: Resolution): resolution is JudgedResolution =>
  resolution.outcome === 'judged' && isHeld(resolution.verdict);

function toJudgedCandidate(resolution: Resolution, hitId: string | null): JudgedCandidate {
  const { id } = resolution.candidate;
  const none = { id, verdict: null, observations: null, hitId, caseId: null };
  if (resolution.outcome === 'occurrence' && resolution.caseId !== undefined)
    return { ...none, state: 'review', caseId: resolution.caseId };
  if (resolution.outcome !== 'judged') return { ...none, state: 'suppressed' };
  const { fallback, verdict } = resolution;
  if (fallback) return { ...none, state: fallback.isFinal ? 'judged' : 'raised' };
  const observations = verdict.triggered ? null : listCited(verdict, resolution.observations);
  if (isHeld(verdict)) return { ...none, state: 'review', caseId: id, verdict, observations };
  return { ...none, state: 'judged', verdict, observations };
}

function findHitId(resolution: Resolution, hitIds: Map<string, string>): string | null {
  switch (resolution.outcome) {
    case 'negative':
    case 'excepted':
    case 'allowed':
      return null;
    case 'judged':
      return hitIds.get(resolution.hitKey) ?? null;
    case 'occurrence':
      return resolution.hitId ?? (resolution.hitKey === null ? null : (hitIds.get(resolution.hitKey) ?? null));
  }
}

/** Returns the hit of a candidate with a triggered verdict. */
function toNewHit(
  detectionId: string,
  { candidate, hitKey, verdict, observations, modelDisagrees, fallback }: JudgedResolution,
): NewHit {
  return {
    ...verdict,
    observations: listCited(verdict, observations),
    key: hitKey,
    detectionId,
    kind: candidate.kind,
    rows: candidate.rows,
    facts: candidate.facts,
    judged: fallback === null,
    unjudgedReason: fallback?.reason ?? null,
    modelDisagrees,
    windowFrom: candidate.windowFrom,
    windowTo: candidate.windowTo,
    late: candidate.late,
    arrivedAt: candidate.arrivedAt,
  };
}
