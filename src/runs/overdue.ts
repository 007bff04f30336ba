import { sql } from 'kysely';
import { analystVerdict } from '../agent/analyst.ts';
import { verifyVerdict } from '../agent/verify.ts';
import { exceptionFor } from '../analysis/exceptions.ts';
import { acrossOrgs, inOrg, rows, type Tx } from '../db/db.ts';
import { listStanding } from '../detections/exception-store.ts';
import { hitKey } from '../hits/key.ts';
import { insertHits, insertOccurrences } from '../hits/store.ts';
import type { OrgId } from '../lib/org-id.ts';
import { listWaitingCandidates, lockWaiting, markJudged, type StoredCandidate } from './candidate-store.ts';
import { waitMaxMs } from './decide.ts';
import { newHit } from './new-hit.ts';
import type { RunDeps } from './run.ts';

const detectionsMax = 20;
const batchMax = 50;

type Ref = { orgId: OrgId; detectionId: string };

/**
 * Candidates that waited a day for a verdict become hits from their facts, but for those under an exception, also where no next run
 * comes to do it: a detection that was switched off or deleted, or a weekly one. They count in no run's figures: the fenced finish
 * of a run alone writes those, and the run that found them has finished. Answers whether there were any.
 */
export async function settleOverdueAcrossOrgs({ db, clock }: Pick<RunDeps, 'db' | 'clock'>): Promise<boolean> {
  const now = clock();
  const overdue = new Date(now.getTime() - waitMaxMs);
  const refs = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<Ref>`
        select distinct organization_id as "orgId", detection_id as "detectionId" from candidates c
        where state = 'pending' and created_at < ${overdue}
          and not exists (select from run_queue q where q.organization_id = c.organization_id and q.detection_id = c.detection_id)
        limit ${detectionsMax}`,
    ),
  );
  for (const ref of refs) await inOrg(db, ref.orgId, (tx) => settle(tx, ref, { overdue, now }));
  return refs.length > 0;
}

async function settle(tx: Tx, ref: Ref, { overdue, now }: { overdue: Date; now: Date }): Promise<void> {
  const page = { exhausted: [], overdue, limit: batchMax };
  const listed = await listWaitingCandidates(tx, { ...ref, runId: null, ownOnly: false }, page);
  const late = listed.filter((candidate) => candidate.createdAt < overdue);
  const ids = late.map((candidate) => candidate.id);
  const waiting = await lockWaiting(tx, ref.orgId, ids);
  const exceptions = await listStanding(tx, ref, now);
  const mine = late.filter(({ id }) => waiting.has(id));
  const excepted = mine.filter((candidate) => exceptionFor(candidate, exceptions));
  const settled = mine
    .filter((candidate) => !excepted.includes(candidate))
    .map((candidate) => verdictOf(ref, candidate));
  const made = settled.filter(({ verified }) => verified.triggered);
  const unique = new Map(
    made
      .toReversed()
      .map((one) => [
        one.key,
        newHit(ref.detectionId, one.candidate, { ...one, hitKey: one.key, judged: one.candidate.verdict !== null }),
      ]),
  );
  const hitIds = await insertHits(tx, ref.orgId, [...unique.values()], now);
  const occurrences = made.map(({ key, candidate }) => ({
    hitId: hitIds.get(key)!,
    runId: candidate.runId,
    windowFrom: candidate.windowFrom,
    seenAt: candidate.windowTo,
  }));
  await insertOccurrences(tx, ref.orgId, occurrences, now);
  const judged = settled.map(({ key, candidate, verified }) => ({
    id: candidate.id,
    state: 'judged' as const,
    verdict: verified.verdict,
    hitId: hitIds.get(key) ?? null,
  }));
  const kept = excepted.map(({ id }) => ({ id, state: 'suppressed' as const, verdict: null, hitId: null }));
  await markJudged(tx, { orgId: ref.orgId, runId: null, now }, [...judged, ...kept]);
}

function verdictOf({ detectionId }: Ref, candidate: StoredCandidate) {
  const verified = verifyVerdict(candidate.verdict ?? analystVerdict(candidate), candidate);
  const key = hitKey(detectionId, candidate.entityType, candidate.entity, candidate.kindKey);
  return { candidate, verified, key };
}
