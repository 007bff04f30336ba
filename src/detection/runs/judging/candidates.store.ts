import { sql } from 'kysely';
import type { Verdict } from '../../verdicts/verdict.ts';
import type { Candidate, Facts, RenderedRow } from '../../analysis/candidate.ts';
import type { KnownVerdict } from '../../analysis/suppression.ts';
import { rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

/** A candidate that waits for its verdict; `verdict` is one that an earlier attempt got. */
export type StoredCandidate = Candidate & {
  id: string;
  runId: string;
  windowFrom: Date;
  windowTo: Date;
  generation: string;
  createdAt: Date;
  /** A backfill found it. */
  late: boolean;
  verdict: Verdict | null;
};

type CandidateRow = Omit<Candidate, 'facts' | 'rows'> & {
  id: string;
  runId: string;
  windowFrom: Date;
  windowTo: Date;
  generation: string;
  createdAt: Date;
  late: boolean;
  facts: string;
  rows: string;
  verdict: string | null;
};

const columns = sql`c.id, c.run_id as "runId", c.window_from as "windowFrom", c.window_to as "windowTo", c.generation,
  c.created_at as "createdAt", c.trigger = 'backfill' as late, c.entity, c.entity_type as "entityType", c.kind, c.kind_key as "kindKey", c.severity, c.facts, c.rows, c.verdict`;

/** Whose candidates: all that wait for a detection but those of other runs that still go on, or, with `ownOnly`, this run's. `runId` null: no run's. */
export type Waiting = { orgId: OrgId; detectionId: string; runId: string | null; ownOnly: boolean };

/** The oldest candidates without verdict; of windows in `exhausted` only those made before `overdue`. */
export async function listWaitingCandidates(
  tx: Tx,
  waiting: Waiting,
  page: { exhausted: Date[]; overdue: Date; limit: number },
): Promise<StoredCandidate[]> {
  const others = waiting.ownOnly
    ? sql`and c.run_id = ${waiting.runId}`
    : sql`and (c.run_id = ${waiting.runId}::uuid or not exists (select from run_queue q where q.run_id = c.run_id))`;
  const found = await rows(
    tx,
    sql<CandidateRow>`
      select ${columns} from candidates c
      where c.organization_id = ${waiting.orgId} and c.detection_id = ${waiting.detectionId} and c.state = 'pending' ${others}
        and (c.created_at < ${page.overdue} or not c.window_from = any(${page.exhausted.map((at) => at.toISOString())}::timestamptz[]))
      order by c.window_from, c.id limit ${page.limit}`,
  );
  return found.map(toStored);
}

/** The first candidates of a run, whatever became of them, and how many there are. */
export async function listRunCandidates(
  tx: Tx,
  orgId: OrgId,
  runId: string,
  limit: number,
): Promise<{ candidates: StoredCandidate[]; total: number }> {
  const found = await rows(
    tx,
    sql<CandidateRow & { total: number }>`
      select ${columns}, count(*) over () as total from candidates c
      where c.organization_id = ${orgId} and c.run_id = ${runId} order by c.window_from, c.id limit ${limit}`,
  );
  return { candidates: found.map(toStored), total: found[0]?.total ?? 0 };
}

function toStored(row: CandidateRow): StoredCandidate {
  return {
    ...row,
    facts: JSON.parse(row.facts) as Facts,
    rows: JSON.parse(row.rows) as RenderedRow[],
    verdict: row.verdict === null ? null : (JSON.parse(row.verdict) as Verdict),
  };
}

/** Those of the candidates that still wait, locked until the transaction ends. */
export async function lockWaiting(tx: Tx, orgId: OrgId, ids: string[]): Promise<Set<string>> {
  const found = await rows(
    tx,
    sql<{
      id: string;
    }>`select id from candidates where organization_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'pending'
      order by id for update`,
  );
  return new Set(found.map((row) => row.id));
}

/** Keeps a verdict as soon as it is there, for a later attempt to use. */
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
  by: { orgId: OrgId; runId: string | null; now: Date },
  judged: JudgedCandidate[],
): Promise<void> {
  await sql`
    update candidates c set state = j.state, verdict = coalesce(j.verdict, c.verdict), hit_id = j.hit_id, judged_run_id = ${by.runId},
      judged_at = ${by.now}
    from unnest(${judged.map((one) => one.id)}::uuid[], ${judged.map((one) => one.state)}::text[],
      ${judged.map((one) => (one.verdict ? JSON.stringify(one.verdict) : null))}::text[], ${judged.map((one) => one.hitId)}::uuid[])
      as j (id, state, verdict, hit_id)
    where c.organization_id = ${by.orgId} and c.id = j.id`.execute(tx);
}

/** A verdict that stands for later candidates of the same key, from the window that gave it until it is too old. */
export type Suppression = KnownVerdict & { key: string; hitId: string | null; sinceAt: Date; untilAt: Date };

/** Known verdicts by key; a positive only while its hit is open. */
export async function findSuppressions(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
  keys: string[],
): Promise<Map<string, Suppression>> {
  const found = await rows(
    tx,
    sql<Omit<Suppression, 'facts'> & { facts: string }>`
      select s.key, s.positive, s.hit_id as "hitId", s.facts, s.severity, s.since_at as "sinceAt", s.until_at as "untilAt"
      from suppressions s left join hits h on h.organization_id = s.organization_id and h.id = s.hit_id
      where s.organization_id = ${ref.orgId} and s.detection_id = ${ref.detectionId} and s.key = any(${keys}::text[])
        and (not s.positive or h.status = 'open')`,
  );
  return new Map(found.map((row) => [row.key, { ...row, facts: JSON.parse(row.facts) as Facts }]));
}

export async function upsertSuppressions(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
  suppressions: Suppression[],
): Promise<void> {
  if (suppressions.length === 0) return;
  const given = suppressions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  await sql`
    insert into suppressions (organization_id, detection_id, key, positive, hit_id, facts, severity, since_at, until_at)
    select ${ref.orgId}::uuid, ${ref.detectionId}::uuid, * from unnest(${given.map((one) => one.key)}::text[],
      ${given.map((one) => one.positive)}::boolean[], ${given.map((one) => one.hitId)}::uuid[],
      ${given.map((one) => JSON.stringify(one.facts))}::text[], ${given.map((one) => one.severity)}::text[],
      ${given.map((one) => one.sinceAt.toISOString())}::timestamptz[], ${given.map((one) => one.untilAt.toISOString())}::timestamptz[])
    on conflict (organization_id, detection_id, key) do update set positive = excluded.positive, hit_id = excluded.hit_id,
      facts = excluded.facts, severity = excluded.severity, since_at = excluded.since_at, until_at = excluded.until_at
    where suppressions.since_at <= excluded.since_at`.execute(tx);
}
