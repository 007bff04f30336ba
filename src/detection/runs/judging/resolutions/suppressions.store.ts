import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../../platform/db/db.ts';
import type { Facts } from '../../../analysis/candidate.ts';
import type { KnownVerdict } from '../../../analysis/suppression.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';

/**
 * A verdict that resolves other candidates with the same key, if their window ends at or after `sinceAt` and before `untilAt`. See
 * `pickSuppression` for windows that late events lead to.
 */
export type Suppression = KnownVerdict & { key: string; hitId: string | null; sinceAt: Date; untilAt: Date };

/** Late candidates are older than a week at most. */
const keptDays = 8;

/** Returns suppressions by key, the latest first. A positive one counts only while its hit is open. */
export async function findSuppressions(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  keys: string[],
): Promise<Map<string, Suppression[]>> {
  const found = await queryRows<Omit<Suppression, 'facts'> & { facts: string }>(tx)`
      select s.key, s.positive, s.hit_id as "hitId", s.facts, s.severity, s.since_at as "sinceAt", s.until_at as "untilAt"
      from suppressions s left join hits h on h.organization_id = s.organization_id and h.id = s.hit_id
      where s.organization_id = ${orgId} and s.detection_id = ${detectionId} and s.key = any(${keys}::text[])
        and (not s.positive or h.status = 'open') order by s.since_at desc`;
  return Map.groupBy(
    found.map((row) => ({ ...row, facts: JSON.parse(row.facts) as Facts })),
    ({ key }) => key,
  );
}

/** Stores suppressions, one per key and window, and deletes those of the same keys that no candidate can need any more. */
export async function upsertSuppressions(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  suppressions: Suppression[],
): Promise<void> {
  if (suppressions.length === 0) return;
  // A fixed order prevents deadlocks between runs.
  const ordered = suppressions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const newest = ordered.reduce((at, { sinceAt }) => (sinceAt > at ? sinceAt : at), ordered[0]!.sinceAt);
  await sql`
    with expired as (
      delete from suppressions where organization_id = ${orgId} and detection_id = ${detectionId}
        and key = any(${ordered.map(({ key }) => key)}::text[]) and until_at < ${newest}::timestamptz - make_interval(days => ${keptDays})
    )
    insert into suppressions (organization_id, detection_id, key, positive, hit_id, facts, severity, since_at, until_at)
    select ${orgId}::uuid, ${detectionId}::uuid, * from unnest(${ordered.map(({ key }) => key)}::text[],
      ${ordered.map(({ positive }) => positive)}::boolean[], ${ordered.map(({ hitId }) => hitId)}::uuid[],
      ${ordered.map(({ facts }) => JSON.stringify(facts))}::text[], ${ordered.map(({ severity }) => severity)}::text[],
      ${ordered.map(({ sinceAt }) => sinceAt.toISOString())}::timestamptz[], ${ordered.map(({ untilAt }) => untilAt.toISOString())}::timestamptz[])
    on conflict (organization_id, detection_id, key, since_at) do update set positive = excluded.positive, hit_id = excluded.hit_id,
      facts = excluded.facts, severity = excluded.severity, until_at = excluded.until_at`.execute(tx);
}
