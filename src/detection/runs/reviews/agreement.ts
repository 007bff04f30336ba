import { sql } from 'kysely';
import { inOrg, row } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { Agreement } from '../run-details.schema.ts';
import { findDetectionState } from '../read-runs.store.ts';

/** How often the judge model thought of a hit's verdict as people did: upheld where they said true positive, not where they said false positive or benign. */
export async function getAgreement(
  { db }: Pick<Deps, 'db'>,
  { orgId }: Caller,
  detectionId: string,
): Promise<Agreement> {
  return inOrg(db, orgId, async (tx) => {
    if (!(await findDetectionState(tx, orgId, detectionId)))
      throw appError('not_found', `Detection ${detectionId} not found.`);
    const found = (await row(
      tx,
      sql<{ reviewed: number; agreed: number }>`
        select count(*) as reviewed, count(*) filter (where o.upheld = (h.status = 'true_positive')) as agreed
        from judge_opinions o
          join hit_occurrences s on s.organization_id = o.organization_id and s.run_id = o.run_id
          join hits h on h.organization_id = s.organization_id and h.id = s.hit_id and h.detection_id = o.detection_id and h.entity = o.entity
        where o.organization_id = ${orgId} and o.detection_id = ${detectionId} and h.status in ('true_positive', 'false_positive', 'benign')`,
    ))!;
    const { reviewed, agreed } = found;
    return { reviewed, agreed, agreement: reviewed === 0 ? null : Math.round((1000 * agreed) / reviewed) / 10 };
  });
}
