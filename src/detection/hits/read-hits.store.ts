import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { foldName } from '../entities/entity-names.ts';
import { toStemKey } from '../entities/resolve-entities.ts';
import { severities, type RenderedRow } from '../analysis/candidate.ts';
import type { Hit, HitFilter } from './hits.schema.ts';

/** A row of `hits` without its rows, facts and observations. `claims` and `evidence` are JSON text, as are `techniques` of the verdict. */
export type HitRow = Omit<
  Hit,
  | 'url'
  | 'evidence'
  | 'claims'
  | 'techniques'
  | 'detection'
  | 'windowFrom'
  | 'windowTo'
  | 'firstSeenAt'
  | 'lastSeenAt'
  | 'latencyMs'
  | 'createdAt'
  | 'updatedAt'
> & {
  evidence: string;
  claims: string;
  judgedTechniques: string;
  detectionName: string;
  tags: string[];
  techniques: string[] | null;
  rule: Hit['detection']['rule'];
  windowFrom: Date;
  windowTo: Date;
  firstSeenAt: Date;
  lastSeenAt: Date;
  arrivedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

/** A hit as events send it. */
export type EventHitRow = HitRow & { facts: string; rows: string };
type OccurrenceRow = { runId: string; windowFrom: Date; seenAt: Date };

const columns = sql`(select name from agents a where a.organization_id = hits.organization_id and a.id = hits.detection_id) as "detectionName",
  (select tags from agents a where a.organization_id = hits.organization_id and a.id = hits.detection_id) as "tags",
  (select json_build_object('id', i.rule_id, 'author', i.author, 'license', i.license) from sigma_imports i
    where i.organization_id = hits.organization_id and i.detection_id = hits.detection_id limit 1) as "rule",
  facts::json->'techniques' as "techniques", id, detection_id as "detectionId", entity, entity_type as "entityType", kind, severity, confidence, headline, summary,
  next_step as "nextStep", verdict, claims, evidence, techniques as "judgedTechniques", open_question as "openQuestion", judged, unjudged_reason as "unjudgedReason",
  model_disagrees as "modelDisagrees", group_id as "groupId",
  (select i.incident_id from incident_hits i where i.organization_id = hits.organization_id and i.hit_id = hits.id) as "incidentId", status, revision, occurrences as "occurrenceCount",
  window_from as "windowFrom", window_to as "windowTo", first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt",
  arrived_at as "arrivedAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** `entities` are the names of one entity, as hits write them. */
type HitQuery = Omit<HitFilter, 'limit' | 'cursor' | 'from' | 'to' | 'entity'> &
  Record<'from' | 'to', Date | undefined> & { entities: readonly string[] | undefined };

/** Lists `limit` + 1 hits, newest first. */
export function listHits(tx: Tx, orgId: OrgId, query: HitQuery, { limit, after }: PageRequest): Promise<HitRow[]> {
  const { detection, status, severity, verdict, entities, value, q, group, incident, from, to } = query;
  const conditions: RawBuilder<unknown>[] = [
    sql`organization_id = ${orgId}`,
    ...(detection === undefined ? [] : [sql`detection_id = ${detection}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(severity === undefined ? [] : [sql`severity = ${severity}`]),
    ...(verdict === undefined ? [] : [sql`verdict = ${verdict}`]),
    ...(entities === undefined ? [] : [sql`entity = any(${entities}::text[])`, hasValue(orgId, entities)]),
    ...(value === undefined ? [] : [hasValue(orgId, [value])]),
    ...(q === undefined ? [] : [isFoundBy(orgId, q)]),
    ...(group === undefined ? [] : [sql`group_id = ${group}`]),
    ...(incident === undefined ? [] : [isInIncident(orgId, incident)]),
    ...(from === undefined ? [] : [sql`last_seen_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`first_seen_at < ${to}`]),
    ...(after ? [sql`(created_at, id) < (${after.at}, ${after.id}::uuid)`] : []),
  ];
  return queryRows<HitRow>(tx)`
    select ${columns} from hits where ${sql.join(conditions, sql` and `)} order by created_at desc, id desc limit ${limit + 1}`;
}

/** Selects the hits, as `id`, that have one of the values. */
export const hasValue = (orgId: OrgId, values: readonly string[]): RawBuilder<unknown> => sql`
  id in (select hit_id from hit_values where organization_id = ${orgId} and value_key = any(${values.map(toValueKey)}::uuid[]))`;

/** An incident that became part of another has the hits of that one. */
const isInIncident = (orgId: OrgId, incident: string): RawBuilder<unknown> => sql`
  id in (select i.hit_id from incidents c join incident_hits i on i.organization_id = c.organization_id and i.incident_id = coalesce(c.merged_into, c.id)
    where c.organization_id = ${orgId} and c.id = ${incident})`;

/** No index serves a part of a text, so that only the latest hits are searched. */
const searchedHitsMax = 10_000;

const isFoundBy = (orgId: OrgId, q: string): RawBuilder<unknown> => sql`
  strpos(lower(headline || chr(10) || entity), lower(${q})) > 0
  and created_at >= coalesce((select created_at from hits where organization_id = ${orgId}
    order by created_at desc, id desc offset ${searchedHitsMax - 1} limit 1), '-infinity')`;

export function findHit(tx: Tx, orgId: OrgId, id: string): Promise<EventHitRow | undefined> {
  return queryRow<EventHitRow>(tx)`
    select ${columns}, facts, rows from hits where organization_id = ${orgId} and id = ${id}`;
}

/** What a hit cites. `rows` and `observations` are JSON text. `query` is the detection's query in the first run that found the hit. */
export type HitEvidenceRow = {
  rows: string;
  observations: string;
  query: string | null;
  windowFrom: Date;
  windowTo: Date;
  createdAt: Date;
};

export function findHitEvidence(tx: Tx, orgId: OrgId, id: string): Promise<HitEvidenceRow | undefined> {
  return queryRow<HitEvidenceRow>(tx)`
      select h.rows, h.observations, h.window_from as "windowFrom", h.window_to as "windowTo", h.created_at as "createdAt",
        (select v.definition::json ->> 'detectionQuery' from hit_occurrences o
          join runs r on r.organization_id = o.organization_id and r.id = o.run_id
          join agent_revisions v on v.organization_id = r.organization_id and v.agent_id = r.detection_id and v.revision = r.revision
          where o.organization_id = h.organization_id and o.hit_id = h.id order by o.seen_at limit 1) as query
      from hits h where h.organization_id = ${orgId} and h.id = ${id}`;
}

/** Lists hits by ID with their rows and facts, in order of creation. */
export function listHitsById(tx: Tx, orgId: OrgId, ids: string[]): Promise<EventHitRow[]> {
  return queryRows<EventHitRow>(tx)`
    select ${columns}, facts, rows from hits where organization_id = ${orgId} and id = any(${ids}::uuid[]) order by created_at, id`;
}

/** Like `listHitsById`, without hits of deleted detections. */
export function listLiveHitsById(tx: Tx, orgId: OrgId, ids: string[]): Promise<EventHitRow[]> {
  return queryRows<EventHitRow>(tx)`
    select ${columns}, facts, rows from hits where organization_id = ${orgId} and id = any(${ids}::uuid[])
      and detection_id not in (select id from agents where organization_id = ${orgId} and deleted_at is not null) order by created_at, id`;
}

/** Lists the occurrences of a hit, latest first. */
export function listOccurrences(tx: Tx, orgId: OrgId, hitId: string, limit: number): Promise<OccurrenceRow[]> {
  return queryRows<OccurrenceRow>(tx)`
      select run_id as "runId", window_from as "windowFrom", seen_at as "seenAt" from hit_occurrences
      where organization_id = ${orgId} and hit_id = ${hitId} order by seen_at desc, run_id desc limit ${limit}`;
}

/** An entity as hits write it, with figures of these hits. */
export type HitEntityRow = {
  entity: string;
  entityType: string;
  hits: number;
  open: number;
  /** Position in `severities`, from 1. */
  severityRank: number;
  detectionIds: string[];
  firstSeenAt: Date;
  lastSeenAt: Date;
};

/** Lists the entities of hits as these write them, last seen first. */
export function listHitEntities(
  tx: Tx,
  orgId: OrgId,
  { detection, status }: { detection: string | undefined; status: string | undefined },
  limit: number,
): Promise<HitEntityRow[]> {
  return queryRows<HitEntityRow>(tx)`
      select entity, entity_type as "entityType", count(*)::int as hits, (count(*) filter (where status = 'open'))::int as open,
        max(array_position(${[...severities]}::text[], severity)) as "severityRank",
        (array_agg(distinct detection_id))[:50] as "detectionIds", min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
      from hits where organization_id = ${orgId} ${detection === undefined ? sql`` : sql`and detection_id = ${detection}`}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
      group by entity, entity_type order by max(last_seen_at) desc, entity, entity_type limit ${limit}`;
}

/** The fields of a hit that determine what it adds to the risk of its entity. `reviews` counts the reviews of its detection by people. */
export type RiskHitRow = Pick<HitRow, 'id' | 'headline' | 'severity' | 'confidence' | 'status' | 'lastSeenAt'> & {
  truePositives: number;
  reviews: number;
};

/** Lists the latest hits of an entity under any of its names since a time. */
export function listRiskHits(
  tx: Tx,
  orgId: OrgId,
  { names, since }: { names: readonly string[]; since: Date },
  limit: number,
): Promise<RiskHitRow[]> {
  return queryRows<RiskHitRow>(tx)`
      select id, headline, severity, confidence, status, last_seen_at as "lastSeenAt", coalesce(v.true_positives, 0) as "truePositives",
        coalesce(v.true_positives + v.benign + v.false_positives, 0) as reviews
      from hits left join hit_reviews v on v.organization_id = hits.organization_id and v.detection_id = hits.detection_id
      where hits.organization_id = ${orgId} and entity = any(${names}::text[]) and ${hasValue(orgId, names)} and last_seen_at >= ${since}
      order by last_seen_at desc, id desc limit ${limit}`;
}

/** Values of one hit that can be searched. A hit shows few rows, which rarely have more. */
const valuesMax = 500;

type HitContent = { id: string; entity: string; entityType: string; rows: readonly RenderedRow[] };

/** Returns the key of a value in `hit_values`, a UUID. Ignores case. */
export const toValueKey = (value: string): string => hash('md5', value.toLowerCase());

/** A hit with what people decided, and those of the requested values that its entity or rows have, in lower case. */
export type JudgedHit = {
  id: string;
  detectionId: string;
  detection: string;
  entity: string;
  entityType: string;
  severity: string;
  status: string;
  reason: string | null;
  occurrences: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
  windowFrom: Date;
  shared: string[];
};

/**
 * Lists the latest hits since a time that have one of the values, with the latest reason of a status. Values that more than `commonMax` hits have are left
 * out, because they connect nothing.
 */
export async function listHitsWithValues(
  tx: Tx,
  orgId: OrgId,
  { values, since, commonMax }: { values: readonly string[]; since: Date; commonMax: number },
  limit: number,
): Promise<JudgedHit[]> {
  const valueOf = new Map(values.map((value) => [toValueKey(value), value.toLowerCase()]));
  const hits = await queryRows<Omit<JudgedHit, 'shared'> & { keys: string[] }>(tx)`
      with counted as (select hit_id, value_key, count(*) over (partition by value_key) as hits from hit_values
        where organization_id = ${orgId} and value_key = any(${[...valueOf.keys()]}::uuid[])),
      shared as (select hit_id, array_agg(replace(value_key::text, '-', '')) as keys from counted where hits <= ${commonMax} group by hit_id)
      select h.id, h.detection_id as "detectionId", a.name as detection, h.entity, h.entity_type as "entityType", h.severity, h.status,
        (select c.reason from hit_changes c where c.organization_id = h.organization_id and c.hit_id = h.id and c.reason is not null
          order by c.at desc, c.id desc limit 1) as reason,
        h.occurrences, h.first_seen_at as "firstSeenAt", h.last_seen_at as "lastSeenAt", h.window_from as "windowFrom", s.keys
      from shared s join hits h on h.organization_id = ${orgId} and h.id = s.hit_id
        join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      where h.last_seen_at >= ${since} order by h.last_seen_at desc, h.id desc limit ${limit}`;
  return hits.map(({ keys, ...hit }) => ({ ...hit, shared: keys.flatMap((key) => valueOf.get(key) ?? []) }));
}

/** Replaces the values by which hits are found: the entity with its stem, and every field of the rows. */
export async function replaceHitValues(tx: Tx, orgId: OrgId, hits: readonly HitContent[]): Promise<void> {
  if (hits.length === 0) return;
  const pairs = hits.flatMap(({ id, entity, entityType, rows }) => {
    const values = [entity, ...rows.flatMap(({ fields }) => Object.values(fields))].filter((value) => value !== '');
    const stem = toStemKey(foldName({ type: entityType, value: entity }));
    const keys = new Set([stem, ...values.map(toValueKey)]);
    return [...keys].slice(0, valuesMax).map((key) => ({ id, key }));
  });
  await sql`
    delete from hit_values
      where organization_id = ${orgId} and hit_id = any(${hits.map(({ id }) => id)}::uuid[])`.execute(tx);
  await sql`
    insert into hit_values (organization_id, value_key, hit_id)
    select ${orgId}::uuid, value_key, hit_id from unnest(${pairs.map(({ key }) => key)}::uuid[], ${pairs.map(({ id }) => id)}::uuid[]) as v (value_key, hit_id)
    on conflict do nothing`.execute(tx);
}
