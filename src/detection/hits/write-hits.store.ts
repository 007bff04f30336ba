import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Observation } from '../verdicts/observation.ts';
import type { Verdict } from '../verdicts/verdict.ts';
import type { Facts, RenderedRow } from '../analysis/candidate.ts';
import { queryRows, type Tx, queryRow } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { replaceHitValues } from './read-hits.store.ts';
import { emitRunHitEvents, emitLateVerdict } from './hit-events.ts';
import type { HitStatus } from './hits.schema.ts';

/** A hit of a verdict. `judged` is false if the judge gave no verdict, for `unjudgedReason`, so the hit is based on its facts alone. */
export type NewHit = Verdict & {
  /** The observations that the claims cite. */
  observations: Observation[];
  key: string;
  detectionId: string;
  kind: string;
  rows: RenderedRow[];
  facts: Facts;
  judged: boolean;
  unjudgedReason: string | null;
  modelDisagrees: string | null;
  windowFrom: Date;
  windowTo: Date;
  /** True if a backfill found it. */
  late: boolean;
  /** Arrival of the first event of its batch. Null for a hit of a slot. */
  arrivedAt: Date | null;
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
        next_step, verdict, claims, evidence, observations, techniques, open_question, rows, facts, judged, unjudged_reason, model_disagrees, occurrences, window_from, window_to, first_seen_at, last_seen_at,
        arrived_at, created_at, updated_at)
      select ${orgId}::uuid, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        verdict, claims, evidence, observations, techniques, open_question, rows, facts, judged, unjudged_reason, model_disagrees, 0, window_from, window_to, window_to, window_to, arrived_at, ${now}::timestamptz, ${now}::timestamptz
      from unnest(${hits.map((hit) => hit.id)}::uuid[], ${hits.map((hit) => hit.detectionId)}::uuid[], ${textArray((hit) => hit.key)},
        ${textArray((hit) => hit.entity)}, ${textArray((hit) => hit.entityType)}, ${textArray((hit) => hit.kind)}, ${textArray((hit) => hit.severity)},
        ${hits.map((hit) => hit.confidence)}::int[], ${textArray((hit) => hit.headline)}, ${textArray((hit) => hit.summary)},
        ${textArray((hit) => hit.nextStep)}, ${textArray((hit) => hit.verdict)}, ${textArray((hit) => JSON.stringify(hit.claims))},
        ${textArray((hit) => JSON.stringify(hit.evidence))}, ${textArray((hit) => JSON.stringify(hit.observations))},
        ${textArray((hit) => JSON.stringify(hit.techniques))}, ${textArray((hit) => hit.openQuestion)}, ${rowsTexts}::text[],
        ${textArray((hit) => JSON.stringify(hit.facts))}, ${hits.map((hit) => hit.judged)}::boolean[], ${textArray((hit) => hit.unjudgedReason)},
        ${textArray((hit) => hit.modelDisagrees)},
        ${hits.map((hit) => hit.windowFrom.toISOString())}::timestamptz[], ${hits.map((hit) => hit.windowTo.toISOString())}::timestamptz[],
        ${hits.map((hit) => hit.arrivedAt?.toISOString() ?? null)}::timestamptz[])
        as h (id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step, verdict, claims, evidence,
          observations, techniques, open_question, rows, facts, judged, unjudged_reason, model_disagrees, window_from, window_to, arrived_at)
      on conflict (organization_id, detection_id, key) do update set ${mergeIntoExisting(newHits.some(({ late }) => late))}
      returning id, key, md5(rows) as "rowsHash"`;
  const byKey = new Map(
    hits.map(({ key, entity, entityType, rows }, index) => [
      key,
      { content: { entity, entityType, rows }, rowsHash: hash('md5', rowsTexts[index]!) },
    ]),
  );
  // A hit that keeps its content keeps its values.
  const written = stored.flatMap(({ id, key, rowsHash }) => {
    const hit = byKey.get(key)!;
    return rowsHash === hit.rowsHash ? [{ id, ...hit.content }] : [];
  });
  await replaceHitValues(tx, orgId, written);
  return new Map(stored.map((hit) => [hit.key, hit.id]));
}

// prettier-ignore
const replaceableColumns = ['severity', 'confidence', 'headline', 'summary', 'next_step', 'verdict', 'claims', 'evidence', 'observations',
  'techniques', 'open_question', 'rows', 'facts', 'judged', 'unjudged_reason', 'model_disagrees', 'window_from', 'window_to', 'updated_at'];

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

type Occurrence = { hitId: string; runId: string; windowFrom: Date; seenAt: Date };

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

/** The verdict of a judge on a hit that was raised from its facts. With `unjudgedReason`, the judge failed for good. */
export type LateVerdict = {
  hitKey: string;
  verdict: Verdict;
  modelDisagrees: string | null;
  observations: Observation[];
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
  if (late.verdict.triggered && (isOpen || isDismissed)) {
    const { severity, confidence, headline, summary, nextStep, verdict, claims, evidence, techniques, openQuestion } =
      late.verdict;
    await sql`
      update hits set severity = ${severity}, confidence = ${confidence}, headline = ${headline}, summary = ${summary},
        next_step = ${nextStep}, verdict = ${verdict}, claims = ${JSON.stringify(claims)}, evidence = ${JSON.stringify(evidence)},
        observations = ${JSON.stringify(late.observations)}, techniques = ${JSON.stringify(techniques)}, open_question = ${openQuestion},
        judged = true, unjudged_reason = null, model_disagrees = ${late.modelDisagrees},
        status = 'open', superseded = false, revision = revision + 1, changed_revision = revision + 1, updated_at = ${now}
      where ${isHit}`.execute(tx);
    await emitLateVerdict(tx, orgId, hit);
  }
  if (!late.verdict.triggered && isOpen) {
    const reason = late.verdict.summary;
    await sql`
      with changed as (
        update hits set judged = true, unjudged_reason = null, model_disagrees = ${reason}, status = 'outdated', superseded = true,
          revision = revision + 1, changed_revision = revision + 1, updated_at = ${now} where ${isHit} returning revision
      )
      insert into hit_changes (organization_id, id, hit_id, at, key_id, from_status, to_status, reason, revision)
      select ${orgId}, ${uuidv7(now)}, ${hit.id}, ${now}, null, 'open', 'outdated', ${`Judged later: ${reason}`}, revision
        from changed`.execute(tx);
    await emitLateVerdict(tx, orgId, hit);
    return { hitId: hit.id, isDismissed: true };
  }
  return { hitId: hit.id, isDismissed: false };
}

/** The hits of a window's outdated candidates, and the keys of the hits that they created. */
type OutdatedWindow = { hitIds: string[]; hitKeys: string[]; windowFrom: Date; now: Date };

/**
 * Removes the occurrences of a window from hits that no candidate of the window supports any more. An open hit without any
 * candidate becomes `outdated`. A hit whose first candidate is outdated is superseded: it is replaced when it is found again.
 */
export async function outdateHits(
  tx: Tx,
  orgId: OrgId,
  { hitIds, hitKeys, windowFrom, now }: OutdatedWindow,
): Promise<void> {
  const supporting = sql`select from candidates c where c.organization_id = ${orgId} and c.hit_id = o.hit_id and c.state <> 'outdated'`;
  await sql`delete from hit_occurrences o where o.organization_id = ${orgId} and o.hit_id = any(${hitIds}::uuid[])
    and o.window_from = ${windowFrom} and not exists (${supporting} and c.window_from = o.window_from)`.execute(tx);
  await sql`
    update hits h set occurrences = seen.windows, first_seen_at = coalesce(seen.first_at, h.first_seen_at),
      last_seen_at = coalesce(seen.last_at, h.last_seen_at),
      superseded = h.superseded or not seen.is_supported or (h.key = any(${hitKeys}::text[]) and h.window_from = ${windowFrom}),
      status = case when h.status = 'open' and not seen.is_supported then 'outdated' else h.status end,
      revision = h.revision + 1, updated_at = ${now},
      changed_revision = case when h.status = 'open' and not seen.is_supported then h.revision + 1 else h.changed_revision end
    from (
      select o.hit_id, count(distinct p.window_from) as windows, min(p.seen_at) as first_at, max(p.seen_at) as last_at,
        exists (${supporting}) as is_supported
      from unnest(${hitIds}::uuid[]) as o (hit_id)
        left join hit_occurrences p on p.organization_id = ${orgId} and p.hit_id = o.hit_id
      group by o.hit_id
    ) seen
    where h.organization_id = ${orgId} and h.id = seen.hit_id`.execute(tx);
  await emitRunHitEvents(tx, orgId, hitIds);
}
