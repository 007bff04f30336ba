import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Author } from '../../../platform/http/caller.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { Facts, Severity } from '../../analysis/candidate.ts';
import type { KnownVerdict } from '../../analysis/suppression.ts';
import type { Hit } from '../../hits/hits.schema.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { Observation } from '../../verdicts/observation.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import type { StoredCandidate } from './candidates.store.ts';

/** An undecided case becomes a hit after this time. */
export const reviewMs = 24 * 3_600_000;

export const caseKinds = ['undecided', 'audit'] as const;
export const caseStates = ['open', 'raised', 'dismissed', 'expired', 'outdated'] as const;
type CaseKind = (typeof caseKinds)[number];
type CaseState = (typeof caseStates)[number];

type NewCase = { candidate: StoredCandidate; caseKey: string | null };

/** Opens a case for each of the candidates. */
export async function openCases(tx: Tx, key: DetectionKey, cases: readonly NewCase[], now: Date): Promise<void> {
  if (cases.length === 0) return;
  const ids = cases.map(({ candidate }) => candidate.id);
  await sql`
    insert into review_cases (organization_id, id, detection_id, kind, suppression_key, entity_key, opened_at, expires_at)
    select ${key.orgId}::uuid, id, ${key.detectionId}::uuid, 'undecided', suppression_key, ${entityKey(sql`entity`)}, ${now}::timestamptz,
      ${new Date(now.getTime() + reviewMs)}::timestamptz
    from unnest(${ids}::uuid[], ${cases.map(({ caseKey }) => caseKey)}::text[],
      ${cases.map(({ candidate }) => candidate.entity)}::text[]) as c (id, suppression_key, entity)`.execute(tx);
  await emitCaseEvents(tx, key.orgId, 'review.created', ids);
}

/** Returns the key by which the cases of an entity are found, as SQL of its name. */
export const entityKey = (entity: RawBuilder<unknown>): RawBuilder<unknown> => sql`md5(lower(${entity}))::uuid`;

/** Returns the cases that wait for a person, by the key of the suppression. */
export async function listOpenCases(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  keys: readonly string[],
): Promise<Map<string, KnownVerdict & { id: string }>> {
  const rows = await queryRows<{ id: string; severity: Severity; key: string; facts: string }>(tx)`
      select r.id, r.suppression_key as key, c.facts, c.severity from review_cases r
      join candidates c on c.organization_id = r.organization_id and c.id = r.id
      where r.organization_id = ${orgId} and r.detection_id = ${detectionId} and r.suppression_key = any(${keys}::text[])
        and r.state = 'open' and r.kind = 'undecided' and c.state = 'review' order by r.opened_at, r.id`;
  return new Map(
    rows.map(({ id, key, facts, severity }) => [
      key,
      { id, positive: true, severity, facts: JSON.parse(facts) as Facts },
    ]),
  );
}

/** A case with its candidate. `verdict` and `secondVerdict` are JSON text. `candidates` is how many windows wait with it. */
export type CaseRow = Pick<
  StoredCandidate,
  'entity' | 'entityType' | 'severity' | 'runId' | 'windowFrom' | 'windowTo'
> & {
  id: string;
  detectionId: string;
  detectionName: string;
  kind: Hit['kind'];
  caseKind: CaseKind;
  state: CaseState;
  verdict: string;
  openedAt: Date;
  expiresAt: Date;
  decidedAt: Date | null;
  keyId: string | null;
  actor: string | null;
  reason: string | null;
  hitId: string | null;
  secondAlias: string | null;
  secondVerdict: string | null;
};

const columns = sql`r.id, r.detection_id as "detectionId", a.name as "detectionName", r.kind as "caseKind", r.state, c.verdict,
  c.entity, c.entity_type as "entityType", c.kind, c.severity, coalesce(c.judged_run_id, c.run_id) as "runId", c.window_from as "windowFrom",
  c.window_to as "windowTo", r.opened_at as "openedAt", r.expires_at as "expiresAt", r.decided_at as "decidedAt", r.key_id as "keyId", r.actor,
  r.reason, r.hit_id as "hitId", r.second_alias as "secondAlias", r.second_verdict as "secondVerdict"`;
const joined = sql`review_cases r join candidates c on c.organization_id = r.organization_id and c.id = r.id
  join agents a on a.organization_id = r.organization_id and a.id = r.detection_id`;

export type CaseFilter = {
  state: CaseState;
  kind?: CaseKind | undefined;
  detection?: string | undefined;
  entity?: string | undefined;
};

/** Condition on a case `r`. An undecided case that no window contains any more is not open. */
const isInState = (state: CaseState): RawBuilder<unknown> =>
  state === 'open'
    ? sql`r.state = 'open' and (r.kind = 'audit' or exists (select from candidates w
        where w.organization_id = r.organization_id and w.case_id = r.id and w.state = 'review'))`
    : sql`r.state = ${state}`;

/** Lists `limit` + 1 cases, latest opened first. */
export function listCases(
  tx: Tx,
  orgId: OrgId,
  { state, kind, detection, entity }: CaseFilter,
  { limit, after }: PageRequest,
): Promise<CaseRow[]> {
  const conditions = [
    sql`r.organization_id = ${orgId} and ${isInState(state)}`,
    ...(kind === undefined ? [] : [sql`r.kind = ${kind}`]),
    ...(detection === undefined ? [] : [sql`r.detection_id = ${detection}`]),
    ...(entity === undefined ? [] : [sql`r.entity_key = ${entityKey(sql`${entity}::text`)} and c.entity = ${entity}`]),
    ...(after ? [sql`(r.opened_at, r.id) < (${after.at}, ${after.id}::uuid)`] : []),
  ];
  return queryRows<CaseRow>(tx)`
    select ${columns} from ${joined} where ${sql.join(conditions, sql` and `)} order by r.opened_at desc, r.id desc limit ${limit + 1}`;
}

/** A case with its facts, rows and observations as JSON text. */
export type CaseDetailRow = CaseRow & { facts: string; rows: string; observations: string | null; foundBy: string };

export function findCase(tx: Tx, orgId: OrgId, id: string): Promise<CaseDetailRow | undefined> {
  return queryRow<CaseDetailRow>(tx)`
      select ${columns}, c.facts, c.rows, c.observations, c.run_id as "foundBy" from ${joined} where r.organization_id = ${orgId} and r.id = ${id}`;
}

/** A locked case. `observations` is what its verdict cites. */
export type OpenCase = DetectionKey & { id: string; kind: CaseKind; judgedRunId: string; observations: Observation[] };

/** Finds the open case of an ID and locks it until the transaction ends, so that it is decided once. */
export async function lockOpenCase(tx: Tx, orgId: OrgId, id: string): Promise<OpenCase | undefined> {
  const found = await queryRow<Omit<OpenCase, 'orgId' | 'observations'> & { observations: string | null }>(tx)`
      select r.id, r.detection_id as "detectionId", r.kind, coalesce(c.judged_run_id, c.run_id) as "judgedRunId", c.observations
      from review_cases r join candidates c on c.organization_id = r.organization_id and c.id = r.id
      where r.organization_id = ${orgId} and r.id = ${id} and r.state = 'open' for update of r`;
  return found && { ...found, orgId, observations: JSON.parse(found.observations ?? '[]') as Observation[] };
}

/** Lists cases whose time is over, the oldest first. */
export const listExpiredAcrossOrgs = (tx: Tx, now: Date, limit: number): Promise<{ orgId: OrgId; id: string }[]> =>
  queryRows<{ orgId: OrgId; id: string }>(tx)`
    select organization_id as "orgId", id from review_cases where state = 'open' and expires_at <= ${now} order by expires_at limit ${limit}`;

/** A case that a person dismissed. `id` begins with `review:`, which distinguishes it from a hit. */
export type DismissedCase = {
  id: string;
  detection: string;
  entity: string;
  severity: Severity;
  reason: string | null;
  lastSeenAt: Date;
};

/** Lists the latest cases of an entity that people dismissed, of windows before a time, of all detections. */
export const listDismissedCases = (
  tx: Tx,
  orgId: OrgId,
  { entity, before }: { entity: string; before: Date },
  limit: number,
): Promise<DismissedCase[]> =>
  queryRows<DismissedCase>(tx)`
    select 'review:' || r.id as id, a.name as detection, c.entity, c.severity, r.reason, c.window_to as "lastSeenAt" from ${joined}
    where r.organization_id = ${orgId} and r.state = 'dismissed' and (r.key_id is not null or r.actor is not null)
      and r.entity_key = ${entityKey(sql`${entity}::text`)} and c.window_from < ${before} order by r.decided_at desc, r.id desc limit ${limit}`;

/** How a case ended. `author` is null if nobody decided it. */
export type CaseEnd = {
  state: Exclude<CaseState, 'open'>;
  reason: string | null;
  author: Author | null;
  hitId: string | null;
  now: Date;
};

/** Ends a case and emits its event. */
export async function endCase(tx: Tx, orgId: OrgId, id: string, end: CaseEnd): Promise<void> {
  const { state, reason, author, hitId, now } = end;
  await sql`
    update review_cases set state = ${state}, decided_at = ${now}, key_id = ${author?.keyId ?? null}, actor = ${author?.subject ?? null},
      reason = ${reason}, hit_id = ${hitId} where organization_id = ${orgId} and id = ${id}`.execute(tx);
  await emitCaseEvents(tx, orgId, 'review.decided', [id]);
}

/** Tells destinations that cases wait for a person. */
export const announceCases = (tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> =>
  emitCaseEvents(tx, orgId, 'review.created', ids);

/** The revision of an event: 1 for an open case, 2 for one that ended. */
async function emitCaseEvents(
  tx: Tx,
  orgId: OrgId,
  type: 'review.created' | 'review.decided',
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await emitEvents(tx, [orgId], [type], async () => {
    const rows = await queryRows<CaseRow>(tx)`
        select ${columns} from ${joined} where r.organization_id = ${orgId} and r.id = any(${ids}::uuid[]) and a.deleted_at is null`;
    return rows.map((row) => ({
      orgId,
      type,
      resourceId: row.id,
      revision: type === 'review.created' ? 1 : 2,
      data: { organizationId: orgId, ...toCase(row) },
      detectionId: row.detectionId,
      severity: row.severity,
    }));
  });
}

/** Returns a case as the API and events show it. */
export function toCase({ verdict: text, secondVerdict, caseKind, ...row }: CaseRow) {
  const verdict = JSON.parse(text) as Verdict;
  return {
    id: row.id,
    kind: caseKind,
    state: row.state,
    detectionId: row.detectionId,
    detectionName: row.detectionName,
    entity: row.entity,
    entityType: row.entityType,
    category: row.kind,
    severity: row.severity,
    confidence: verdict.confidence,
    verdict: verdict.verdict,
    headline: verdict.headline,
    summary: verdict.summary,
    openQuestion: verdict.openQuestion,
    claims: verdict.claims as Hit['claims'],
    evidence: verdict.evidence,
    nextStep: verdict.nextStep,
    runId: row.runId,
    windowFrom: row.windowFrom.toISOString(),
    windowTo: row.windowTo.toISOString(),
    openedAt: row.openedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    decidedAt: row.decidedAt?.toISOString() ?? null,
    keyId: row.keyId,
    actor: row.actor,
    reason: row.reason,
    hitId: row.hitId,
    second:
      row.secondAlias === null || secondVerdict === null
        ? null
        : toSecondOpinion(row.secondAlias, JSON.parse(secondVerdict) as Verdict),
    url: `/console/review/${row.id}`,
  };
}

const toSecondOpinion = (alias: string, { verdict, confidence, summary }: Verdict) => ({
  alias,
  verdict,
  confidence,
  summary,
});
