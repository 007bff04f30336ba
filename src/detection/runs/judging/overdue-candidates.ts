import { acrossOrgs, inOrg, queryRows, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import { endRaisedCandidatesAcrossOrgs, listOverdueCandidates, type StoredCandidate } from './candidates.store.ts';
import { raisedMaxMs } from './judge-raised.ts';
import { judgeByFacts } from './judge.ts';
import {
  findSuppressionKey,
  type JudgingScope,
  loadMutes,
  resolveCandidates,
  toDetectionTexts,
} from './resolutions/resolve-candidates.ts';
import { listJudgingScopes } from './judging-scopes.store.ts';
import { storeResolutions } from './resolutions/store-resolutions.ts';
import { findSuppressions } from './resolutions/suppressions.store.ts';

const detectionsMax = 20;
const batchMax = 50;
const raisedBatchMax = 5_000;

/** A candidate that waits longer than this for a run to judge it becomes a hit from its facts. */
const verdictWaitMaxMs = 24 * 3_600_000;

const overdue = { reason: 'not_judged_in_time', message: 'No run judged the candidate within a day.', isFinal: true };

/**
 * Turns candidates that waited a day for a verdict into hits from their facts, unless an exception covers them. This serves detections without a next
 * run in time: disabled, deleted or weekly ones, and those whose connection is paused. The figures of no run change: only the fenced end of a run
 * writes them. Returns whether there were any. Hits that waited a day for a verdict stay unjudged.
 */
export async function resolveOverdueCandidatesAcrossOrgs({ db, clock }: { db: Db; clock: Clock }): Promise<boolean> {
  const now = clock();
  const before = new Date(now.getTime() - verdictWaitMaxMs);
  const detections = await acrossOrgs(db, async (tx) => {
    await endRaisedCandidatesAcrossOrgs(tx, new Date(now.getTime() - raisedMaxMs), raisedBatchMax);
    return queryRows<DetectionKey>(tx)`
        select distinct organization_id as "orgId", detection_id as "detectionId" from candidates
        where state = 'pending' and created_at < ${before} limit ${detectionsMax}`;
  });
  for (const detection of detections)
    await inOrg(db, detection.orgId, (tx) => resolveBatch(tx, detection, { before, now }));
  return detections.length > 0;
}

async function resolveBatch(
  tx: Tx,
  detection: DetectionKey,
  { before, now }: { before: Date; now: Date },
): Promise<void> {
  const candidates = await listOverdueCandidates(tx, detection, { before, limit: batchMax });
  const scopes = await listJudgingScopes(tx, detection, [...new Set(candidates.map(({ runId }) => runId))]);
  const getScope = ({ runId }: StoredCandidate): JudgingScope => scopes.get(runId)!;
  const keys = candidates.flatMap((candidate) => findSuppressionKey(getScope(candidate), candidate) ?? []);
  const listNames = candidates.flatMap((candidate) => getScope(candidate).definition.tuning?.allowLists ?? []);
  const context = {
    getScope,
    known: await findSuppressions(tx, detection, keys),
    ...(await loadMutes(tx, detection, { listNames: [...new Set(listNames)], candidates })),
  };
  const resolutions = await resolveCandidates(candidates, context, (candidate) =>
    judgeByFacts(candidate, toDetectionTexts(getScope(candidate)), overdue),
  );
  await storeResolutions(tx, { ...detection, runId: null }, resolutions, now);
}
