import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Candidate, Facts, RenderedRow } from '../../analysis/candidate.ts';
import type { KnownVerdict } from '../../analysis/suppression.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { Verdict } from '../../verdicts/verdict.ts';

type CandidateColumns = {
  id: string;
  runId: string;
  windowFrom: Date;
  windowTo: Date;
  generation: string;
  createdAt: Date;
  /** True if a backfill found it. */
  late: boolean;
};

/** A candidate in the database. `verdict` is set if an earlier attempt has judged it. */
export type StoredCandidate = Candidate & CandidateColumns & { verdict: Verdict | null };

/** `facts`, `rows` and `verdict` are JSON text. */
type CandidateRow = Omit<Candidate, 'facts' | 'rows'> &
  CandidateColumns & { facts: string; rows: string; verdict: string | null };

const columns = sql`c.id, c.run_id as "runId", c.window_from as "windowFrom", c.window_to as "windowTo", c.generation,
  c.created_at as "createdAt", c.trigger = 'backfill' as late, c.entity, c.entity_type as "entityType", c.kind, c.kind_key as "kindKey", c.severity, c.facts, c.rows, c.verdict`;

/** The pending candidates of a run and, unless `ownRunOnly`, of ended runs. A null `runId` selects only the latter. */
export type PendingCandidatesFilter = DetectionKey & { runId: string | null; ownRunOnly: boolean };

/** Lists the oldest pending candidates. Of windows in `exhaustedWindows` it lists only candidates created before `overdue`. */
export async function listPendingCandidates(
  tx: Tx,
  { orgId, detectionId, runId, ownRunOnly }: PendingCandidatesFilter,
  { exhaustedWindows, overdue, limit }: { exhaustedWindows: Date[]; overdue: Date; limit: number },
): Promise<StoredCandidate[]> {
  const isAvailable = ownRunOnly
    ? sql`c.run_id = ${runId}`
    : sql`(c.run_id = ${runId}::uuid or not exists (select from run_queue q where q.run_id = c.run_id))`;
  const found = await queryRows<CandidateRow>(tx)`
      select ${columns} from candidates c
      where c.organization_id = ${orgId} and c.detection_id = ${detectionId} and c.state = 'pending' and ${isAvailable}
        and (c.created_at < ${overdue} or not c.window_from = any(${exhaustedWindows.map((from) => from.toISOString())}::timestamptz[]))
      order by c.window_from, c.id limit ${limit}`;
  return found.map(toStoredCandidate);
}

/** Lists the first candidates of a run in any state, and counts all of them. */
export async function listRunCandidates(
  tx: Tx,
  orgId: OrgId,
  runId: string,
  limit: number,
): Promise<{ candidates: StoredCandidate[]; total: number }> {
  const found = await queryRows<CandidateRow & { total: number }>(tx)`
      select ${columns}, count(*) over () as total from candidates c
      where c.organization_id = ${orgId} and c.run_id = ${runId} order by c.window_from, c.id limit ${limit}`;
  return { candidates: found.map(toStoredCandidate), total: found[0]?.total ?? 0 };
}

function toStoredCandidate(row: CandidateRow): StoredCandidate {
  return {
    ...row,
    facts: JSON.parse(row.facts) as Facts,
    rows: JSON.parse(row.rows) as RenderedRow[],
    verdict: row.verdict === null ? null : (JSON.parse(row.verdict) as Verdict),
  };
}

/** Locks those of the candidates that are still pending until the transaction ends, and returns their IDs. */
export async function lockPendingCandidates(tx: Tx, orgId: OrgId, ids: string[]): Promise<Set<string>> {
  const locked = await queryRows<{ id: string }>(tx)`
      select id from candidates where organization_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'pending'
      order by id for update`;
  return new Set(locked.map((row) => row.id));
}

/** Stores a verdict on a pending candidate, so that a later attempt does not judge it again. */
export async function storeVerdict(tx: Tx, orgId: OrgId, id: string, verdict: Verdict): Promise<void> {
  await sql`update candidates set verdict = ${JSON.stringify(verdict)}
    where organization_id = ${orgId} and id = ${id} and state = 'pending'`.execute(tx);
}

export type JudgedCandidate = {
  id: string;
  state: 'judged' | 'suppressed';
  verdict: Verdict | null;
  hitId: string | null;
};

export async function markJudged(
  tx: Tx,
  { orgId, runId, now }: { orgId: OrgId; runId: string | null; now: Date },
  judged: JudgedCandidate[],
): Promise<void> {
  await sql`
    update candidates c set state = j.state, verdict = coalesce(j.verdict, c.verdict), hit_id = j.hit_id, judged_run_id = ${runId},
      judged_at = ${now}
    from unnest(${judged.map(({ id }) => id)}::uuid[], ${judged.map(({ state }) => state)}::text[],
      ${judged.map(({ verdict }) => (verdict ? JSON.stringify(verdict) : null))}::text[], ${judged.map(({ hitId }) => hitId)}::uuid[])
      as j (id, state, verdict, hit_id)
    where c.organization_id = ${orgId} and c.id = j.id`.execute(tx);
}

/** A verdict that resolves later candidates with the same key, if their window ends at or after `sinceAt` and before `untilAt`. */
export type Suppression = KnownVerdict & { key: string; hitId: string | null; sinceAt: Date; untilAt: Date };

/** Returns suppressions by key. A positive one counts only while its hit is open. */
export async function findSuppressions(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  keys: string[],
): Promise<Map<string, Suppression>> {
  const found = await queryRows<Omit<Suppression, 'facts'> & { facts: string }>(tx)`
      select s.key, s.positive, s.hit_id as "hitId", s.facts, s.severity, s.since_at as "sinceAt", s.until_at as "untilAt"
      from suppressions s left join hits h on h.organization_id = s.organization_id and h.id = s.hit_id
      where s.organization_id = ${orgId} and s.detection_id = ${detectionId} and s.key = any(${keys}::text[])
        and (not s.positive or h.status = 'open')`;
  return new Map(found.map((row) => [row.key, { ...row, facts: JSON.parse(row.facts) as Facts }]));
}

/** Stores suppressions. One of an earlier window does not replace one of a later window. */
export async function upsertSuppressions(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  suppressions: Suppression[],
): Promise<void> {
  if (suppressions.length === 0) return;
  // A fixed order prevents deadlocks between runs.
  const ordered = suppressions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  await sql`
    insert into suppressions (organization_id, detection_id, key, positive, hit_id, facts, severity, since_at, until_at)
    select ${orgId}::uuid, ${detectionId}::uuid, * from unnest(${ordered.map(({ key }) => key)}::text[],
      ${ordered.map(({ positive }) => positive)}::boolean[], ${ordered.map(({ hitId }) => hitId)}::uuid[],
      ${ordered.map(({ facts }) => JSON.stringify(facts))}::text[], ${ordered.map(({ severity }) => severity)}::text[],
      ${ordered.map(({ sinceAt }) => sinceAt.toISOString())}::timestamptz[], ${ordered.map(({ untilAt }) => untilAt.toISOString())}::timestamptz[])
    on conflict (organization_id, detection_id, key) do update set positive = excluded.positive, hit_id = excluded.hit_id,
      facts = excluded.facts, severity = excluded.severity, since_at = excluded.since_at, until_at = excluded.until_at
    where suppressions.since_at <= excluded.since_at`.execute(tx);
}
