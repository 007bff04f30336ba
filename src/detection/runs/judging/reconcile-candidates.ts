import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { createHitKey } from '../../hits/hit-key.ts';
import { outdateHits } from '../../hits/write-hits.store.ts';
import type { TimeRange } from '../../scheduling/timeline.ts';
import type { ActiveRun } from '../run-model/active-run.ts';

type CandidateIdentity = { entity: string; entityType: string; kindKey: string; severity: string };
type EarlierCandidate = CandidateIdentity & { id: string; hitId: string | null };

const identify = ({ entity, entityType, kindKey, severity }: CandidateIdentity): string =>
  JSON.stringify([entityType, entity, kindKey, severity]);

/**
 * Compares the candidates of a window with those found earlier under the same definition. Earlier candidates that were not found
 * again become outdated, and so do hits without other candidates. Returns the new candidates. Candidates of manual runs are not
 * compared, because manual runs do not change the memory.
 */
export async function reconcileCandidates(
  tx: Tx,
  run: ActiveRun,
  { window, candidates, now }: { window: TimeRange; candidates: Candidate[]; now: Date },
): Promise<Candidate[]> {
  const earlier = await lockEarlierCandidates(tx, run, window);
  const foundAgain = new Set(candidates.map(identify));
  const outdated = earlier.filter((candidate) => !foundAgain.has(identify(candidate)));
  if (outdated.length > 0) {
    const ids = outdated.map(({ id }) => id);
    await sql`update candidates set state = 'outdated' where organization_id = ${run.orgId} and id = any(${ids}::uuid[])`.execute(
      tx,
    );
    const hitKeys = outdated.map(({ entityType, entity, kindKey }) =>
      createHitKey(run.detectionId, entityType, entity, kindKey),
    );
    const hitIds = [...new Set(outdated.flatMap(({ hitId }) => hitId ?? []))];
    await outdateHits(tx, run.orgId, { hitIds, hitKeys, windowFrom: window.from, now });
  }
  const known = new Set(earlier.map(identify));
  return candidates.filter((candidate) => !known.has(identify(candidate)));
}

function lockEarlierCandidates(tx: Tx, run: ActiveRun, { from }: TimeRange): Promise<EarlierCandidate[]> {
  return queryRows<EarlierCandidate>(tx)`
      select id, entity, entity_type as "entityType", kind_key as "kindKey", severity, hit_id as "hitId" from candidates
      where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${from}
        and generation = ${run.scope.generation} and trigger not in ('manual', 'continuous') and state <> 'outdated' for update`;
}
