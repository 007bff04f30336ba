import { sql } from 'kysely';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import type { NeedsReview } from '../verdicts/planted-text/needs-review.ts';
import type { StruckClaim } from '../verdicts/verification/verify-verdict.ts';
import type { Verdict } from '../verdicts/verdict.ts';
import { emitLateVerdict } from './hit-events.ts';
import type { HitStatus } from './hits.schema.ts';

/** The verdict of a judge on a hit that was raised from its facts. With `unjudgedReason`, the judge failed for good. */
export type LateVerdict = {
  hitKey: string;
  verdict: Verdict;
  triggered: boolean;
  modelDisagrees: string | null;
  needsReview: NeedsReview | null;
  struck: StruckClaim[];
  unjudgedReason: string | null;
};

type RaisedHit = { id: string; groupId: string | null; status: HitStatus; judged: boolean; superseded: boolean };

/**
 * Updates a hit that was raised from its facts. A positive verdict replaces its content. A negative one moves it to `outdated`,
 * with the judge's reason in `modelDisagrees` and in its history. A hit that a person has reviewed, or that has a verdict already,
 * stays as it is. Returns undefined if the hit no longer exists.
 */
export async function applyLateVerdict(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
  late: LateVerdict,
  now: Date,
): Promise<{ hitId: string; isDismissed: boolean } | undefined> {
  const hit = await queryRow<RaisedHit>(tx)`
      select id, group_id as "groupId", status, judged, superseded from hits
      where organization_id = ${orgId} and detection_id = ${detectionId} and key = ${late.hitKey} for update`;
  if (!hit) return undefined;
  const isOpen = hit.status === 'open' && !hit.judged;
  // An earlier candidate of the same hit was dismissed. A positive verdict on this one brings the hit back.
  const isDismissed = hit.status === 'outdated' && hit.superseded;
  const isHit = sql`organization_id = ${orgId} and id = ${hit.id}`;
  if (late.unjudgedReason !== null) {
    if (isOpen) await sql`update hits set unjudged_reason = ${late.unjudgedReason} where ${isHit}`.execute(tx);
    return { hitId: hit.id, isDismissed: false };
  }
  if (late.triggered && (isOpen || isDismissed)) {
    const { severity, confidence, headline, summary, nextStep, evidence } = late.verdict;
    await sql`
      update hits set severity = ${severity}, confidence = ${confidence}, headline = ${headline}, summary = ${summary},
        next_step = ${nextStep}, evidence = ${JSON.stringify(evidence)}, judged = true, unjudged_reason = null,
        model_disagrees = ${late.modelDisagrees}, needs_review = ${late.needsReview && JSON.stringify(late.needsReview)},
        struck = ${JSON.stringify(late.struck)},
        status = 'open', superseded = false, revision = revision + 1, changed_revision = revision + 1, updated_at = ${now}
      where ${isHit}`.execute(tx);
    await emitLateVerdict(tx, orgId, hit);
  }
  if (!late.triggered && isOpen) {
    const reason = late.verdict.summary;
    await sql`
      with changed as (
        update hits set judged = true, unjudged_reason = null, model_disagrees = ${reason}, status = 'outdated', superseded = true,
          revision = revision + 1, changed_revision = revision + 1, updated_at = ${now} where ${isHit} returning revision
      )
      insert into hit_changes (organization_id, id, hit_id, at, key_id, from_status, to_status, reason, revision)
      select ${orgId}, ${uuidv7(now)}, ${hit.id}, ${now}, null, 'open', 'outdated', ${`Judged later: ${reason}`}, revision from changed`.execute(
      tx,
    );
    await emitLateVerdict(tx, orgId, hit);
    return { hitId: hit.id, isDismissed: true };
  }
  return { hitId: hit.id, isDismissed: false };
}
