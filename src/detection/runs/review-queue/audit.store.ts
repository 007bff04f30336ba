import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { announceCases, entityKey } from '../judging/review-cases.store.ts';

const daysBack = 7;
/** An alias is asked this often about one dismissal. Then only a person can decide it. */
const failuresMax = 5;
const auditDays = sql`interval '7 days'`;

/** Condition on `candidates c`: a judge dismissed it, and nobody has looked at it since. */
const isDismissed = sql`c.state = 'judged' and c.hit_id is null and c.case_id is null and c.verdict is not null`;

/** A UTC day of a detection, `YYYY-MM-DD`. */
export type DismissalDay = DetectionKey & { day: string };

/** Lists ended days of the last week with dismissals that have not been sampled. */
export const listUnsampledDaysAcrossOrgs = (tx: Tx, today: Date, limit: number): Promise<DismissalDay[]> =>
  queryRows<DismissalDay>(tx)`
    select distinct c.organization_id as "orgId", c.detection_id as "detectionId", (c.judged_at at time zone 'UTC')::date as day from candidates c
    where ${isDismissed} and c.judged_at < ${today} and c.judged_at >= ${today}::timestamptz - make_interval(days => ${daysBack})
      and not exists (select from dismissal_days d where d.organization_id = c.organization_id and d.detection_id = c.detection_id
        and d.day = (c.judged_at at time zone 'UTC')::date)
    limit ${limit}`;

type Sample = { percent: number; sampledMax: number; now: Date; isForPeople: boolean };

/**
 * Samples the dismissals of a day for the audit: the given share, at least one, those with the lowest SHA-256 of a new random salt and their ID. Nobody
 * can know beforehand which these are, and what a candidate contains has no influence. Does nothing if the day was sampled already.
 */
export async function sampleDay(
  tx: Tx,
  { orgId, detectionId, day }: DismissalDay,
  { percent, sampledMax, now, isForPeople }: Sample,
): Promise<void> {
  const ofDay = sql`c.organization_id = ${orgId} and c.detection_id = ${detectionId} and ${isDismissed}
    and c.judged_at >= ${day}::date::timestamp at time zone 'UTC' and c.judged_at < (${day}::date + 1)::timestamp at time zone 'UTC'`;
  const opened = await queryRow<{ salt: string; dismissals: number }>(tx)`
      insert into dismissal_days (organization_id, detection_id, day, dismissals, sampled, salt)
      select ${orgId}, ${detectionId}, ${day}::date, (select count(*) from candidates c where ${ofDay}), 0, gen_random_uuid()
      on conflict do nothing returning salt, dismissals`;
  if (!opened) return;
  const { salt, dismissals } = opened;
  const sampled = percent === 0 ? 0 : Math.min(sampledMax, Math.max(1, Math.ceil((dismissals * percent) / 100)));
  const cases = await queryRows<{ id: string }>(tx)`
    with sample as (
      select c.id, c.entity from candidates c where ${ofDay}
      order by sha256(convert_to(${salt} || c.id::text, 'UTF8')) limit ${sampled}
    ), counted as (
      update dismissal_days set sampled = (select count(*) from sample)
      where organization_id = ${orgId} and detection_id = ${detectionId} and day = ${day}::date
    )
    insert into review_cases (organization_id, id, detection_id, kind, entity_key, opened_at, expires_at, weight)
    select ${orgId}::uuid, id, ${detectionId}::uuid, 'audit', ${entityKey(sql`entity`)}, ${now}::timestamptz, ${now}::timestamptz + ${auditDays},
      ${dismissals}::float8 / count(*) over () from sample returning id`;
  if (isForPeople)
    await announceCases(
      tx,
      orgId,
      cases.map(({ id }) => id),
    );
}

export type WaitingAudit = { orgId: OrgId; id: string };

/** Claims the audited dismissal that has waited longest for an alias to judge it again, for ten minutes. Detections that use the alias are left out. */
export const claimAuditAcrossOrgs = (tx: Tx, alias: string): Promise<WaitingAudit | undefined> =>
  queryRow<WaitingAudit>(tx)`
    update review_cases set failures = failures + 1, retry_at = clock_timestamp() + interval '10 minutes'
    where (organization_id, id) in (
      select r.organization_id, r.id from review_cases r
        join agents a on a.organization_id = r.organization_id and a.id = r.detection_id
      where r.kind = 'audit' and r.state = 'open' and r.second_alias is null and r.failures < ${failuresMax}
        and r.retry_at <= clock_timestamp() and a.model_alias <> ${alias} and a.deleted_at is null
      order by r.retry_at limit 1 for update of r skip locked)
    returning organization_id as "orgId", id`;

/** Stores what another alias concluded about a dismissal. */
export async function storeSecondVerdict(
  tx: Tx,
  { orgId, id }: WaitingAudit,
  { alias, verdict }: { alias: string; verdict: Verdict },
): Promise<void> {
  await sql`update review_cases set second_alias = ${alias}, second_verdict = ${JSON.stringify(verdict)}
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Decided dismissals of the audit that stand for equally many others. */
export type AuditedGroup = { weight: number; audited: number; wrong: number };

/**
 * Returns the dismissals of a detection since a time, those of the audit that are open, and the decided ones by weight. One that was raised is wrong,
 * unless people judged its hit as benign or false positive.
 */
export async function readAudit(tx: Tx, { orgId, detectionId }: DetectionKey, since: Date) {
  const days = await queryRow<{ dismissals: number; sampled: number }>(tx)`
      select coalesce(sum(dismissals), 0)::int as dismissals, coalesce(sum(sampled), 0)::int as sampled from dismissal_days
      where organization_id = ${orgId} and detection_id = ${detectionId} and day >= (${since}::timestamptz at time zone 'UTC')::date`;
  const ofAudit = sql`r.organization_id = ${orgId} and r.detection_id = ${detectionId} and r.kind = 'audit' and r.opened_at >= ${since}`;
  const open = await queryRow<{ n: number }>(tx)`
      select count(*)::int as n from review_cases r where ${ofAudit} and r.state = 'open'`;
  const groups = await queryRows<AuditedGroup>(tx)`
      select r.weight, count(*)::int as audited,
        (count(*) filter (where r.state = 'raised' and coalesce(h.status, '') not in ('benign', 'false_positive')))::int as wrong
      from review_cases r left join hits h on h.organization_id = r.organization_id and h.id = r.hit_id
      where ${ofAudit} and r.state in ('raised', 'dismissed') group by r.weight`;
  return { ...days!, open: open!.n, groups };
}
