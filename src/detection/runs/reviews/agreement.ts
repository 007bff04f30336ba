import { inOrg, queryRow, type Db } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { getDetectionState } from '../detection-state.store.ts';
import type { Agreement } from '../run-details.schema.ts';

/**
 * Returns how often the judge model and analysts agree on the hits of a detection. They agree if the judge model upheld a true
 * positive, or did not uphold a false positive or a benign hit.
 */
export async function getAgreement({ db }: { db: Db }, { orgId }: Caller, detectionId: string): Promise<Agreement> {
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const counts = await queryRow<{ reviewed: number; agreed: number }>(tx)`
        select count(*) as reviewed, count(*) filter (where o.upheld = (h.status = 'true_positive')) as agreed
        from judge_opinions o
          join hit_occurrences s on s.organization_id = o.organization_id and s.run_id = o.run_id
          join hits h on h.organization_id = s.organization_id and h.id = s.hit_id and h.detection_id = o.detection_id and h.entity = o.entity
        where o.organization_id = ${orgId} and o.detection_id = ${detectionId} and h.status in ('true_positive', 'false_positive', 'benign')`;
    const { reviewed, agreed } = counts!;
    return { reviewed, agreed, agreement: reviewed === 0 ? null : Math.round((1000 * agreed) / reviewed) / 10 };
  });
}
