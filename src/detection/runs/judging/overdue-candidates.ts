import { sql } from 'kysely';
import { acrossOrgs, inOrg, rows, type Tx } from '../../../platform/db/db.ts';
import { listStanding } from '../../detections/exceptions/exceptions.store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { findSuppressions, listWaitingCandidates, type StoredCandidate } from './candidates.store.ts';
import { decide, keyOf, waitMaxMs, type Scope } from './resolve-candidates.ts';
import type { RunDeps } from '../run-types.ts';
import { listScopes } from './suppression-scopes.store.ts';
import { storeDecisions } from './store-decisions.ts';

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
  const scopes = await listScopes(tx, ref, [...new Set(late.map(({ runId }) => runId))]);
  const scopeOf = ({ runId }: StoredCandidate): Scope => scopes.get(runId)!;
  const keys = late.flatMap((candidate) => keyOf(scopeOf(candidate), candidate) ?? []);
  const decisions = await decide(late, {
    scopeOf,
    known: await findSuppressions(tx, ref, keys),
    exceptions: await listStanding(tx, ref, now),
    now,
    verdictOf: ({ id }) => Promise.reject(new Error(`Candidate ${id} is not overdue.`)),
  });
  await storeDecisions(tx, { ...ref, runId: null }, decisions, now);
}
