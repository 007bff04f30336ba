import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Verdict } from '../verdicts/verdict.ts';
import type { NeedsReview } from '../verdicts/planted-text/needs-review.ts';
import type { StruckClaim } from '../verdicts/verification/verify-verdict.ts';
import type { Facts, RenderedRow } from '../analysis/candidate.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { replaceHitValues } from './hit-values.store.ts';
import { emitRunHitEvents } from './hit-events.ts';

// prettier-ignore
const replaceableColumns = ['severity', 'confidence', 'headline', 'summary', 'next_step', 'evidence', 'rows', 'facts', 'judged',
  'unjudged_reason', 'model_disagrees', 'needs_review', 'struck', 'window_from', 'window_to', 'updated_at'];

/**
 * Assignments for a hit that already exists. Its contents come from its earliest window, so a backfilled window that is earlier
 * replaces them. A hit that was superseded because its past changed is replaced by any window that finds it again, and an open
 * hit without a verdict by one with a verdict.
 */
function mergeIntoExisting(hasLateHits: boolean): RawBuilder<unknown> {
  const isEarlier = sql`excluded.window_from < hits.window_from`;
  const isNowJudged = sql`(excluded.judged and not hits.judged and hits.status = 'open')`;
  const isReplaced = sql`(hits.superseded or ${isNowJudged} or ${hasLateHits ? isEarlier : sql`false`})`;
  const columns = replaceableColumns.map((name) => {
    const column = sql.ref(name);
    return sql`${column} = case when ${isReplaced} then excluded.${column} else hits.${column} end`;
  });
  return sql`status = case when hits.superseded and hits.status = 'outdated' then 'open' else hits.status end,
    superseded = false, revision = hits.revision + ${isReplaced}::int,
    changed_revision = case when ${isReplaced} then hits.revision + 1 else hits.changed_revision end, ${sql.join(columns)}`;
}

/** A hit of a verdict. `judged` is false if the judge gave no verdict, for `unjudgedReason`, so the hit is based on its facts alone. */
export type NewHit = Omit<Verdict, 'triggered'> & {
  key: string;
  detectionId: string;
  kind: string;
  rows: RenderedRow[];
  facts: Facts;
  judged: boolean;
  unjudgedReason: string | null;
  modelDisagrees: string | null;
  needsReview: NeedsReview | null;
  struck: StruckClaim[];
  windowFrom: Date;
  windowTo: Date;
  /** True if a backfill found it. */
  late: boolean;
};

/** Stores hits. An existing hit with the same key stays as it is, unless it is replaced. Returns IDs by key. `now` is slot time. */
export async function insertHits(tx: Tx, orgId: OrgId, newHits: NewHit[], now: Date): Promise<Map<string, string>> {
  if (newHits.length === 0) return new Map();
  // IDs are in the order of the input. Rows are locked in the order of their keys, since another run may store the same hits.
  const hits = newHits.map((hit) => ({ ...hit, id: uuidv7(now) })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rowsTexts = hits.map(({ rows }) => JSON.stringify(rows));
  const textArray = (pick: (hit: NewHit) => string | null) => sql`${hits.map(pick)}::text[]`;
  const stored = await queryRows<{ id: string; key: string; rowsHash: string }>(tx)`
      insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary,
        next_step, evidence, rows, facts, judged, unjudged_reason, model_disagrees, needs_review, struck, occurrences, window_from, window_to, first_seen_at, last_seen_at,
        created_at, updated_at)
      select ${orgId}::uuid, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        evidence, rows, facts, judged, unjudged_reason, model_disagrees, needs_review, struck, 0, window_from, window_to, window_to, window_to, ${now}::timestamptz, ${now}::timestamptz
      from unnest(${hits.map((hit) => hit.id)}::uuid[], ${hits.map((hit) => hit.detectionId)}::uuid[], ${textArray((hit) => hit.key)},
        ${textArray((hit) => hit.entity)}, ${textArray((hit) => hit.entityType)}, ${textArray((hit) => hit.kind)}, ${textArray((hit) => hit.severity)},
        ${hits.map((hit) => hit.confidence)}::int[], ${textArray((hit) => hit.headline)}, ${textArray((hit) => hit.summary)},
        ${textArray((hit) => hit.nextStep)}, ${textArray((hit) => JSON.stringify(hit.evidence))}, ${rowsTexts}::text[],
        ${textArray((hit) => JSON.stringify(hit.facts))}, ${hits.map((hit) => hit.judged)}::boolean[], ${textArray((hit) => hit.unjudgedReason)},
        ${textArray((hit) => hit.modelDisagrees)}, ${textArray((hit) => hit.needsReview && JSON.stringify(hit.needsReview))}, ${textArray((hit) => JSON.stringify(hit.struck))},
        ${hits.map((hit) => hit.windowFrom.toISOString())}::timestamptz[], ${hits.map((hit) => hit.windowTo.toISOString())}::timestamptz[])
        as h (id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step, evidence, rows,
          facts, judged, unjudged_reason, model_disagrees, needs_review, struck, window_from, window_to)
      on conflict (organization_id, detection_id, key) do update set ${mergeIntoExisting(newHits.some(({ late }) => late))}
      returning id, key, md5(rows) as "rowsHash"`;
  const byKey = new Map(
    hits.map(({ key, entity, rows }, index) => [key, { entity, rows, rowsHash: hash('md5', rowsTexts[index]!) }]),
  );
  // A hit that keeps its content keeps its values.
  const written = stored.flatMap(({ id, key, rowsHash }) => {
    const hit = byKey.get(key)!;
    return rowsHash === hit.rowsHash ? [{ id, entity: hit.entity, rows: hit.rows }] : [];
  });
  await replaceHitValues(tx, orgId, written);
  return new Map(stored.map((hit) => [hit.key, hit.id]));
}

export type Occurrence = { hitId: string; runId: string; windowFrom: Date; seenAt: Date };

/** Adds runs to the occurrences of hits. Each window counts once, even if several runs examine it. */
export async function insertOccurrences(tx: Tx, orgId: OrgId, occurrences: Occurrence[], now: Date): Promise<void> {
  if (occurrences.length === 0) return;
  const changed = await queryRows<{ id: string }>(tx)`
    with new_occurrences as (
      select distinct * from unnest(${occurrences.map((one) => one.hitId)}::uuid[], ${occurrences.map((one) => one.runId)}::uuid[],
        ${occurrences.map((one) => one.windowFrom.toISOString())}::timestamptz[],
        ${occurrences.map((one) => one.seenAt.toISOString())}::timestamptz[]) as o (hit_id, run_id, window_from, seen_at)
    ), new_windows as (
      select n.hit_id, count(distinct n.window_from) as windows, min(n.seen_at) as first_at, max(n.seen_at) as last_at from new_occurrences n
      where not exists (select from hit_occurrences o where o.organization_id = ${orgId} and o.hit_id = n.hit_id
        and o.window_from = n.window_from)
      group by n.hit_id
    ), inserted as (
      insert into hit_occurrences (organization_id, hit_id, run_id, window_from, seen_at)
      select ${orgId}::uuid, hit_id, run_id, window_from, seen_at from new_occurrences on conflict do nothing
    )
    update hits h set occurrences = h.occurrences + new_windows.windows, first_seen_at = least(h.first_seen_at, new_windows.first_at),
      last_seen_at = greatest(h.last_seen_at, new_windows.last_at), updated_at = ${now},
      revision = h.revision + case when h.occurrences > 0 then 1 else 0 end
    from new_windows where h.organization_id = ${orgId} and h.id = new_windows.hit_id returning h.id`;
  await emitRunHitEvents(
    tx,
    orgId,
    changed.map(({ id }) => id),
  );
}
