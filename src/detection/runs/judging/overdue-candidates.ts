import { acrossOrgs, inOrg, queryRows, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { listActiveExceptions } from '../../detections/exceptions/exceptions.store.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import { findSuppressions, listPendingCandidates, type StoredCandidate } from './candidates.store.ts';
import { listJudgingScopes } from './judging-scopes.store.ts';
import { findSuppressionKey, resolveCandidates, verdictWaitMaxMs, type JudgingScope } from './resolve-candidates.ts';
import { storeResolutions } from './store-resolutions.ts';

const detectionsMax = 20;
const batchMax = 50;

/**
 * Turns candidates that waited a day for a verdict into hits from their facts, unless an exception covers them. This serves
 * detections without a next run in time: disabled, deleted or weekly ones. The figures of no run change: only the fenced end of
 * a run writes them, and the run that found the candidates has ended. Returns whether there were any.
 */
export async function resolveOverdueCandidatesAcrossOrgs({ db, clock }: { db: Db; clock: Clock }): Promise<boolean> {
  const now = clock();
  const overdue = new Date(now.getTime() - verdictWaitMaxMs);
  const detections = await acrossOrgs(
    db,
    (tx) =>
      queryRows<DetectionKey>(tx)`
        select distinct organization_id as "orgId", detection_id as "detectionId" from candidates c
        where state = 'pending' and created_at < ${overdue}
          and not exists (select from run_queue q where q.organization_id = c.organization_id and q.detection_id = c.detection_id)
        limit ${detectionsMax}`,
  );
  for (const detection of detections)
    await inOrg(db, detection.orgId, (tx) => resolveBatch(tx, detection, { overdue, now }));
  return detections.length > 0;
}

async function resolveBatch(
  tx: Tx,
  detection: DetectionKey,
  { overdue, now }: { overdue: Date; now: Date },
): Promise<void> {
  const listed = await listPendingCandidates(
    tx,
    { ...detection, runId: null, ownRunOnly: false },
    { exhaustedWindows: [], overdue, limit: batchMax },
  );
  const candidates = listed.filter((candidate) => candidate.createdAt < overdue);
  const scopes = await listJudgingScopes(tx, detection, [...new Set(candidates.map(({ runId }) => runId))]);
  const getScope = ({ runId }: StoredCandidate): JudgingScope => scopes.get(runId)!;
  const keys = candidates.flatMap((candidate) => findSuppressionKey(getScope(candidate), candidate) ?? []);
  const resolutions = await resolveCandidates(candidates, {
    getScope,
    known: await findSuppressions(tx, detection, keys),
    exceptions: await listActiveExceptions(tx, detection, now),
    now,
    getVerdict: ({ id }) => Promise.reject(new Error(`Candidate ${id} is not overdue.`)),
  });
  await storeResolutions(tx, { ...detection, runId: null }, resolutions, now);
}
