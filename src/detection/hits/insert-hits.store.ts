import { sql } from 'kysely';
import type { Evidence } from '../verdicts/verdict.ts';
import type { Facts, RenderedRow, Severity } from '../analysis/candidate.ts';
import { rows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { emitFoundHits } from './hit-events.ts';

const refreshed = ['severity', 'confidence', 'headline', 'summary', 'next_step', 'evidence', 'rows', 'facts', 'judged', 'model_disagrees',
  'window_from', 'window_to', 'updated_at']; // prettier-ignore

/** The earliest window makes a hit. One that came late takes it over, as does whatever finds one that a changed past had superseded. */
function anew(late: boolean) {
  const isAnew = late ? sql`(hits.superseded or excluded.window_from < hits.window_from)` : sql`hits.superseded`;
  const columns = refreshed.map((name) => {
    const column = sql.ref(name);
    return sql`${column} = case when ${isAnew} then excluded.${column} else hits.${column} end`;
  });
  return sql`status = case when hits.superseded and hits.status = 'outdated' then 'open' else hits.status end,
    superseded = false, revision = hits.revision + ${isAnew}::int, ${sql.join(columns)}`;
}

/** A hit as a verdict makes it. `judged` false: no judge came to it in time, it stands by its facts. */
export type NewHit = {
  key: string;
  detectionId: string;
  entity: string;
  entityType: string;
  kind: string;
  severity: Severity;
  confidence: number;
  headline: string;
  summary: string;
  nextStep: string;
  evidence: Evidence[];
  rows: RenderedRow[];
  facts: Facts;
  judged: boolean;
  modelDisagrees: string | null;
  windowFrom: Date;
  windowTo: Date;
  /** It was found out of turn. */
  late: boolean;
};

/** Stores hits, or finds those that are there already and leaves them as they are, but for what is made anew. Answers their ids by key. `now` is slot time. */
export async function insertHits(tx: Tx, orgId: OrgId, given: NewHit[], now: Date): Promise<Map<string, string>> {
  if (given.length === 0) return new Map();
  // Ids in the order given; rows locked in the order of their keys, since another run may store the same hits.
  const hits = given.map((hit) => ({ ...hit, id: uuidv7(now) })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const text = (pick: (hit: NewHit) => string | null) => sql`${hits.map(pick)}::text[]`;
  const found = await rows(
    tx,
    sql<{ id: string; key: string }>`
      insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary,
        next_step, evidence, rows, facts, judged, model_disagrees, occurrences, window_from, window_to, first_seen_at, last_seen_at,
        created_at, updated_at)
      select ${orgId}::uuid, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        evidence, rows, facts, judged, model_disagrees, 0, window_from, window_to, window_to, window_to, ${now}::timestamptz, ${now}::timestamptz
      from unnest(${hits.map((hit) => hit.id)}::uuid[], ${hits.map((hit) => hit.detectionId)}::uuid[], ${text((hit) => hit.key)},
        ${text((hit) => hit.entity)}, ${text((hit) => hit.entityType)}, ${text((hit) => hit.kind)}, ${text((hit) => hit.severity)},
        ${hits.map((hit) => hit.confidence)}::int[], ${text((hit) => hit.headline)}, ${text((hit) => hit.summary)},
        ${text((hit) => hit.nextStep)}, ${text((hit) => JSON.stringify(hit.evidence))}, ${text((hit) => JSON.stringify(hit.rows))},
        ${text((hit) => JSON.stringify(hit.facts))}, ${hits.map((hit) => hit.judged)}::boolean[], ${text((hit) => hit.modelDisagrees)},
        ${hits.map((hit) => hit.windowFrom.toISOString())}::timestamptz[], ${hits.map((hit) => hit.windowTo.toISOString())}::timestamptz[])
        as h (id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step, evidence, rows,
          facts, judged, model_disagrees, window_from, window_to)
      on conflict (organization_id, detection_id, key) do update set ${anew(given.some(({ late }) => late))}
      returning id, key`,
  );
  return new Map(found.map((hit) => [hit.key, hit.id]));
}

export type Occurrence = { hitId: string; runId: string; windowFrom: Date; seenAt: Date };

/** Joins runs to hits. A window that the hit was not seen in before counts as one more occurrence; the same window again does not. */
export async function insertOccurrences(tx: Tx, orgId: OrgId, occurrences: Occurrence[], now: Date): Promise<void> {
  if (occurrences.length === 0) return;
  const changed = await rows(
    tx,
    sql<{ id: string }>`
    with given as (
      select distinct * from unnest(${occurrences.map((one) => one.hitId)}::uuid[], ${occurrences.map((one) => one.runId)}::uuid[],
        ${occurrences.map((one) => one.windowFrom.toISOString())}::timestamptz[],
        ${occurrences.map((one) => one.seenAt.toISOString())}::timestamptz[]) as g (hit_id, run_id, window_from, seen_at)
    ), fresh as (
      select hit_id, count(distinct window_from) as n, min(seen_at) as first_at, max(seen_at) as last_at from given
      where not exists (select from hit_occurrences o where o.organization_id = ${orgId} and o.hit_id = given.hit_id
        and o.window_from = given.window_from)
      group by hit_id
    ), added as (
      insert into hit_occurrences (organization_id, hit_id, run_id, window_from, seen_at)
      select ${orgId}::uuid, hit_id, run_id, window_from, seen_at from given on conflict do nothing
    )
    update hits h set occurrences = h.occurrences + fresh.n, first_seen_at = least(h.first_seen_at, fresh.first_at),
      last_seen_at = greatest(h.last_seen_at, fresh.last_at), updated_at = ${now},
      revision = h.revision + case when h.occurrences > 0 then 1 else 0 end
    from fresh where h.organization_id = ${orgId} and h.id = fresh.hit_id returning h.id`,
  );
  await emitFoundHits(
    tx,
    orgId,
    changed.map(({ id }) => id),
  );
}
