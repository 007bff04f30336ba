import { sql, type RawBuilder } from 'kysely';
import { severities, type Candidate, type Facts, type RenderedRow } from '../../analysis/candidate.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import { createHitKey } from '../../hits/hit-key.ts';
import { outdateHits } from '../../hits/write-hits.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { DetectionKey, TimeRange } from '../../scheduling/timeline.ts';
import type { Observation } from '../../verdicts/observation.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

type CandidateColumns = {
  id: string;
  runId: string;
  windowFrom: Date;
  windowTo: Date;
  generation: string;
  /** Arrival of the first event of the batch, if it was matched when it arrived. */
  arrivedAt: Date | null;
  createdAt: Date;
  /** True if a backfill found it. */
  late: boolean;
};

/** A candidate in the database. `verdict` is null until a judge has judged it. */
export type StoredCandidate = Candidate & CandidateColumns & { verdict: Verdict | null };

/** `pending` waits for a judge, `raised` is a hit that a judge may still judge, `review` waits for a person, `judged` is decided. */
export type OpenState = 'pending' | 'raised' | 'review' | 'judged';

/** `facts`, `rows` and `verdict` are JSON text. */
type CandidateRow = Omit<Candidate, 'facts' | 'rows'> &
  CandidateColumns & { facts: string; rows: string; verdict: string | null };

const columns = sql`c.id, c.run_id as "runId", c.window_from as "windowFrom", c.window_to as "windowTo", c.generation,
  c.arrived_at as "arrivedAt", c.created_at as "createdAt", c.trigger = 'backfill' as late, c.entity, c.entity_type as "entityType", c.kind, c.kind_key as "kindKey", c.severity, c.facts, c.rows, c.verdict`;

/** The pending candidates of a run and, unless `ownRunOnly`, of ended runs. */
type RunCandidates = DetectionKey & { runId: string; ownRunOnly: boolean };

/**
 * The rows of a batch have at most this many characters together, unless its first candidate alone has more. Small, because the driver copies
 * the texts of the hits without a pause.
 */
const batchCharsMax = 1_000_000;

/** Condition on `candidates c` of a detection that a run may judge them: they are its own, or those of a run that has ended. Takes values or expressions. */
export const isAvailableTo = ({ orgId, detectionId, runId }: Record<'orgId' | 'detectionId' | 'runId', unknown>) =>
  sql`c.run_id <> all (array(select o.run_id from run_queue o where o.organization_id = ${orgId} and o.detection_id = ${detectionId}
    and o.run_id <> ${runId}))`;

/** Lists the first pending candidates: the oldest window first, and in a window in the order of the analysis, most severe first. */
export function listPendingCandidates(
  tx: Tx,
  { orgId, detectionId, runId, ownRunOnly }: RunCandidates,
  { excludedIds, limit }: { excludedIds: string[]; limit: number },
): Promise<StoredCandidate[]> {
  const isAvailable = ownRunOnly ? sql`c.run_id = ${runId}` : isAvailableTo({ orgId, detectionId, runId });
  const isExcluded = sql`c.id = any(${excludedIds}::uuid[])`;
  const isDetection = sql`c.organization_id = ${orgId} and c.detection_id = ${detectionId}`;
  return listBatch(
    tx,
    sql`${isDetection} and c.state = 'pending' and ${isAvailable} and not ${isExcluded} order by c.window_from, c.id limit ${limit}`,
  );
}

/** Lists the first candidates of a detection that have been pending since before a time, in the order of their windows. */
export function listOverdueCandidates(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { before, limit }: { before: Date; limit: number },
): Promise<StoredCandidate[]> {
  return listBatch(
    tx,
    sql`c.organization_id = ${orgId} and c.detection_id = ${detectionId} and c.state = 'pending' and c.created_at < ${before}
      order by c.window_from, c.id limit ${limit}`,
  );
}

/** `selection` is the condition, the order (by window and ID) and the limit. */
async function listBatch(tx: Tx, selection: RawBuilder<unknown>): Promise<StoredCandidate[]> {
  const found = await queryRows<CandidateRow>(tx)`
      select ${columns} from (
        select s.*, sum(length(s.rows)) over (order by s.window_from, s.id) - length(s.rows) as chars_before
        from (select c.* from candidates c where ${selection}) s
      ) c where c.chars_before < ${batchCharsMax} order by c.window_from, c.id`;
  return found.map(toStoredCandidate);
}

/**
 * Lists the candidates that became hits from their facts and that a judge may still judge, most severe first, without those whose
 * hit a person has reviewed.
 */
export async function listRaisedCandidates(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { since, excludedIds, limit }: { since: Date; excludedIds: string[]; limit: number },
): Promise<StoredCandidate[]> {
  const found = await queryRows<CandidateRow>(tx)`
      select ${columns} from candidates c join hits h on h.organization_id = c.organization_id and h.id = c.hit_id
      where c.organization_id = ${orgId} and c.detection_id = ${detectionId} and c.state = 'raised' and c.created_at >= ${since}
        and not c.id = any(${excludedIds}::uuid[]) and (h.status = 'open' or h.superseded)
      order by array_position(${[...severities]}::text[], c.severity) desc, c.window_from, c.id limit ${limit}`;
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

/** Lists the candidates that wait with a case, in the order of their windows, and locks them until the transaction ends. */
export async function lockReviewed(tx: Tx, orgId: OrgId, caseId: string, limit: number): Promise<StoredCandidate[]> {
  const found = await queryRows<CandidateRow>(tx)`
      select ${columns} from candidates c where c.organization_id = ${orgId} and c.case_id = ${caseId} and c.state = 'review'
      order by c.window_from, c.id limit ${limit} for update`;
  return found.map(toStoredCandidate);
}

export async function findCandidate(tx: Tx, orgId: OrgId, id: string): Promise<StoredCandidate | undefined> {
  const found = await queryRow<CandidateRow>(tx)`
    select ${columns} from candidates c where c.organization_id = ${orgId} and c.id = ${id}`;
  return found && toStoredCandidate(found);
}

/** Returns which behavior the first candidate of a hit shows, and the generation of memory that it belongs to. */
export function findBehaviorOf(
  tx: Tx,
  orgId: OrgId,
  { id, detectionId, windowFrom }: { id: string; detectionId: string; windowFrom: Date },
): Promise<{ kindKey: string; generation: string } | undefined> {
  return queryRow<{ kindKey: string; generation: string }>(tx)`
      select kind_key as "kindKey", generation from candidates
      where organization_id = ${orgId} and detection_id = ${detectionId} and window_from >= ${windowFrom} and hit_id = ${id}
      order by window_from limit 1`;
}

/** Returns the definition of the detection of a hit, at the revision of the first run that found the hit, or the current one if that run is deleted. */
export async function findDefinitionOf(
  tx: Tx,
  orgId: OrgId,
  { id, detectionId }: { id: string; detectionId: string },
): Promise<Definition> {
  const found = await queryRow<{ definition: string }>(tx)`
      select v.definition from agents a join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id
        and v.revision = coalesce((
          select r.revision from hit_occurrences o join runs r on r.organization_id = o.organization_id and r.id = o.run_id
          where o.organization_id = ${orgId} and o.hit_id = ${id} and r.revision is not null order by o.seen_at limit 1), a.revision)
      where a.organization_id = ${orgId} and a.id = ${detectionId}`;
  return JSON.parse(found!.definition) as Definition;
}

/** Returns the hit of the first of some candidates that has one. */
export async function findHitOf(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<string | null> {
  const found = await queryRow<{ hitId: string }>(tx)`
      select hit_id as "hitId" from candidates where organization_id = ${orgId} and id = any(${ids}::uuid[]) and hit_id is not null order by id limit 1`;
  return found?.hitId ?? null;
}

function toStoredCandidate(row: CandidateRow): StoredCandidate {
  return {
    ...row,
    facts: JSON.parse(row.facts) as Facts,
    rows: JSON.parse(row.rows) as RenderedRow[],
    verdict: row.verdict === null ? null : (JSON.parse(row.verdict) as Verdict),
  };
}

/** Locks the candidates that are still in a state until the transaction ends, and returns their IDs. */
export async function lockCandidates(
  tx: Tx,
  orgId: OrgId,
  { ids, state }: { ids: string[]; state: OpenState },
): Promise<Set<string>> {
  const locked = await queryRows<{ id: string }>(tx)`
      select id from candidates where organization_id = ${orgId} and id = any(${ids}::uuid[]) and state = ${state}
      order by id for update`;
  return new Set(locked.map((row) => row.id));
}

/**
 * A candidate whose verdict came from its facts is `raised` while a judge may still judge it. It has no verdict of a judge. A candidate keeps its
 * verdict if `verdict` is null. `observations` is what a verdict without a hit cites.
 */
export type JudgedCandidate = {
  id: string;
  state: 'judged' | 'raised' | 'review' | 'suppressed';
  verdict: Verdict | null;
  observations: Observation[] | null;
  hitId: string | null;
  /** The case that it waits with, in the state `review`. */
  caseId: string | null;
};

/** Makes the candidates pending again that joined a hit as occurrences. */
export async function reopenOccurrences(tx: Tx, orgId: OrgId, hitId: string): Promise<void> {
  await sql`update candidates set state = 'pending', hit_id = null
    where organization_id = ${orgId} and hit_id = ${hitId} and state = 'suppressed'`.execute(tx);
}

/** Ends the wait for a judge of candidates that became hits from their facts before a time, at most `limit`. */
export async function endRaisedCandidatesAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<void> {
  await sql`update candidates set state = 'judged' where (organization_id, id) in (
    select organization_id, id from candidates
      where state = 'raised' and created_at < ${before} limit ${limit})`.execute(tx);
}

export async function markJudged(
  tx: Tx,
  { orgId, runId, now }: { orgId: OrgId; runId: string | null; now: Date },
  judged: JudgedCandidate[],
): Promise<void> {
  await sql`
    update candidates c set state = j.state, verdict = coalesce(j.verdict, c.verdict), observations = coalesce(j.observations, c.observations),
      hit_id = j.hit_id, case_id = coalesce(j.case_id, c.case_id), judged_run_id = coalesce(${runId}, c.judged_run_id), judged_at = ${now}
    from unnest(${judged.map(({ id }) => id)}::uuid[], ${judged.map(({ state }) => state)}::text[],
      ${judged.map(({ verdict }) => (verdict ? JSON.stringify(verdict) : null))}::text[],
      ${judged.map(({ observations }) => (observations ? JSON.stringify(observations) : null))}::text[], ${judged.map(({ hitId }) => hitId)}::uuid[],
      ${judged.map(({ caseId }) => caseId)}::uuid[]) as j (id, state, verdict, observations, hit_id, case_id)
    where c.organization_id = ${orgId} and c.id = j.id`.execute(tx);
}

type CandidateIdentity = { entity: string; entityType: string; kindKey: string; severity: string };
type EarlierCandidate = CandidateIdentity & { id: string; hitId: string | null };

/** Severity rules are left out, because lists change. */
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
  const identifyNew = (candidate: Candidate): string =>
    identify({ ...candidate, severity: String(candidate.facts['severityBefore'] ?? candidate.severity) });
  const foundAgain = new Set(candidates.map(identifyNew));
  const outdated = earlier.filter((candidate) => !foundAgain.has(identify(candidate)));
  if (outdated.length > 0) {
    const ids = outdated.map(({ id }) => id);
    await sql`
      update candidates set state = 'outdated'
        where organization_id = ${run.orgId} and id = any(${ids}::uuid[])`.execute(tx);
    const hitKeys = outdated.map(({ entityType, entity, kindKey }) =>
      createHitKey(run.detectionId, entityType, entity, kindKey),
    );
    const hitIds = [...new Set(outdated.flatMap(({ hitId }) => hitId ?? []))];
    await outdateHits(tx, run.orgId, { hitIds, hitKeys, windowFrom: window.from, now });
  }
  const known = new Set(earlier.map(identify));
  return candidates.filter((candidate) => !known.has(identifyNew(candidate)));
}

function lockEarlierCandidates(tx: Tx, run: ActiveRun, { from }: TimeRange): Promise<EarlierCandidate[]> {
  return queryRows<EarlierCandidate>(tx)`
      select id, entity, entity_type as "entityType", kind_key as "kindKey", coalesce(facts::jsonb ->> 'severityBefore', severity) as severity, hit_id as "hitId" from candidates
      where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${from}
        and generation = ${run.scope.generation} and trigger not in ('manual', 'continuous') and state <> 'outdated' for update`;
}
