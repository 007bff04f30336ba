import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RecordChange } from '../../platform/lib/errors.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { severities } from '../analysis/candidate.ts';
import { currentActor } from '../../platform/orgs/sessions/persons.store.ts';
import { isFollowed, isInInbox, ofIncident, type InboxReader } from './discuss-incident.store.ts';
import type { ChangedField } from './incidents.store.ts';
import type { Incident, IncidentDetail, IncidentFilter, IncidentTimeline, TimelineKind } from './incidents.schema.ts';

type TimeField = 'firstAt' | 'lastAt' | 'dueAt' | 'createdAt' | 'updatedAt';
export type IncidentRow = Omit<Incident, TimeField | 'url'> & Record<TimeField, Date>;

/** The current name of the owner, if the owner is a person. */
const owner = sql`coalesce((select p.name from persons p where p.organization_id = c.organization_id and p.id = c.owner_id), c.owner)`;
const columns = sql`c.id, c.title, c.state, c.resolution, c.severity, c.severity_set as "severitySet", ${owner} as owner, c.owner_id as "ownerId", c.touched, c.revision,
  c.first_at as "firstAt", c.last_at as "lastAt", c.due_at as "dueAt", c.created_at as "createdAt", c.updated_at as "updatedAt", n.hits, n."openHits"`;
const counted = sql`cross join lateral (
  select count(*)::int as hits, (count(*) filter (where h.status = 'open'))::int as "openHits"
  from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
  where i.organization_id = c.organization_id and i.incident_id = c.id) n`;

type Sort = NonNullable<IncidentFilter['sort']>;
const rank = sql`array_position(${[...severities]}::text[], c.severity)`;
/** The value that each order sorts by, as a number that decreases along the list. */
const sortValues: Record<Sort, RawBuilder<unknown>> = {
  latest: sql`extract(epoch from c.last_at)`,
  severity: rank,
  due: sql`-extract(epoch from c.due_at)`,
};

export type IncidentQuery = Pick<IncidentFilter, 'state' | 'severity' | 'owner' | 'q' | 'watcher' | 'inbox'> & {
  reader: InboxReader;
  sort: Sort;
  entityKeys: readonly string[] | undefined;
  after: { value: string; id: string } | null;
};

/** Lists `limit` + 1 incidents with the value that they are sorted by. */
export function listIncidents(
  tx: Tx,
  orgId: OrgId,
  { state, severity, owner: ownerName, q, watcher, inbox, reader, sort, entityKeys, after }: IncidentQuery,
  limit: number,
): Promise<(IncidentRow & { sortValue: string })[]> {
  const value = sortValues[sort];
  const conditions: RawBuilder<unknown>[] = [
    sql`c.organization_id = ${orgId} and c.merged_into is null`,
    ...(state === undefined ? [] : [state === 'active' ? sql`c.state <> 'closed'` : sql`c.state = ${state}`]),
    ...(severity === undefined ? [] : [sql`c.severity = ${severity}`]),
    ...(ownerName === undefined ? [] : [ownerName === '' ? sql`c.owner is null` : sql`${owner} = ${ownerName}`]),
    ...(q === undefined ? [] : [sql`strpos(lower(c.title || chr(10) || coalesce(${owner}, '')), lower(${q})) > 0`]),
    ...(watcher === undefined ? [] : [isFollowed(orgId, watcher)]),
    ...(inbox === undefined ? [] : [isInInbox(inbox, reader)]),
    ...(entityKeys === undefined
      ? []
      : [
          sql`c.id in (select i.incident_id from hit_connections v join incident_hits i on i.organization_id = v.organization_id and i.hit_id = v.hit_id
            where v.organization_id = ${orgId} and v.value_key = any(${entityKeys}::uuid[]))`,
        ]),
    ...(after ? [sql`(${value}, c.id) < (${after.value}::numeric, ${after.id}::uuid)`] : []),
  ];
  return queryRows<IncidentRow & { sortValue: string }>(tx)`
      select ${columns}, (${value})::text as "sortValue" from incidents c ${counted}
      where ${sql.join(conditions, sql` and `)} and (n.hits > 0 or c.touched) order by ${value} desc, c.id desc limit ${limit + 1}`;
}

/** Finds an incident by its own ID or that of an incident merged into it. */
export function findIncident(tx: Tx, orgId: OrgId, id: string): Promise<IncidentRow | undefined> {
  return queryRow<IncidentRow>(tx)`
      select ${columns} from incidents c ${counted} where c.organization_id = ${orgId}
        and c.id = (select coalesce(merged_into, id) from incidents where organization_id = ${orgId} and id = ${id})`;
}

/** Lists incidents with hits by ID. */
export function listIncidentsById(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<IncidentRow[]> {
  return queryRows<IncidentRow>(tx)`
      select ${columns} from incidents c ${counted} where c.organization_id = ${orgId} and c.id = any(${ids}::uuid[]) and c.merged_into is null
      order by c.id`;
}

/** Returns the entities of the hits of incidents, by incident. */
export async function listHitEntities(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<Map<string, string[]>> {
  const found = await queryRows<{ id: string; entities: string[] }>(tx)`
      select i.incident_id as id, array_agg(distinct h.entity) as entities
      from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
      where i.organization_id = ${orgId} and i.incident_id = any(${ids}::uuid[]) group by i.incident_id`;
  return new Map(found.map(({ id, entities }) => [id, entities]));
}

/** Lists the IDs of the most severe hits of an incident. */
export async function listSevereHits(tx: Tx, orgId: OrgId, incidentId: string, limit: number): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      select h.id from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
      where i.organization_id = ${orgId} and i.incident_id = ${incidentId}
      order by array_position(${[...severities]}::text[], h.severity) desc, h.id limit ${limit}`;
  return found.map(({ id }) => id);
}

/** A hit of an incident. `techniques` are those of its rows, `judged` those of its verdict as JSON text. */
export type StageHitRow = {
  id: string;
  techniques: string[] | null;
  judged: string;
  tags: string[];
  fromAt: Date;
  toAt: Date;
};

/** Lists the hits of an incident in order of time, for its stages. */
export function listStageHits(tx: Tx, orgId: OrgId, incidentId: string): Promise<StageHitRow[]> {
  return queryRows<StageHitRow>(tx)`
      select h.id, h.facts::json->'techniques' as techniques, h.techniques as judged, a.tags, i.from_at as "fromAt", i.to_at as "toAt"
      from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
        join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      where i.organization_id = ${orgId} and i.incident_id = ${incidentId} order by i.from_at, i.hit_id`;
}

export function listIncidentEntities(
  tx: Tx,
  orgId: OrgId,
  incidentId: string,
  limit: number,
): Promise<IncidentDetail['entities']> {
  return queryRows<IncidentDetail['entities'][number]>(tx)`
      select min(v.kind) as kind, min(v.type) as type, min(v.value) as value, count(*)::int as hits, max(v.others) as others
      from incident_hits i join hit_connections v on v.organization_id = i.organization_id and v.hit_id = i.hit_id
      where i.organization_id = ${orgId} and i.incident_id = ${incidentId}
      group by v.value_key order by count(*) desc, min(v.type), min(v.value) limit ${limit}`;
}

/** A reason why hits of an incident belong together. `cells` is the JSON text of each hit's cells, in the order of `hitIds`. */
export type ReasonRow = Omit<IncidentDetail['reasons'][number], 'cells'> & { cells: string[] };

/** Lists the specific values that several hits of an incident have, those of most hits first. */
export function listReasons(
  tx: Tx,
  orgId: OrgId,
  { incidentId, othersMax, limit }: { incidentId: string; othersMax: number; limit: number },
): Promise<ReasonRow[]> {
  return queryRows<ReasonRow>(tx)`
      select min(v.kind) as kind, min(v.type) as type, min(v.value) as value, count(*)::int as hits,
        (array_agg(v.hit_id order by v.from_at, v.hit_id))[:${sql.lit(limit)}] as "hitIds", (array_agg(v.cells order by v.from_at, v.hit_id))[:${sql.lit(limit)}] as cells
      from incident_hits i join hit_connections v on v.organization_id = i.organization_id and v.hit_id = i.hit_id
      where i.organization_id = ${orgId} and i.incident_id = ${incidentId} and v.others <= ${othersMax}
      group by v.value_key having count(*) > 1 order by count(*) desc, min(v.type), min(v.value) limit ${limit}`;
}

export type LinkRow = Omit<IncidentDetail['links'][number], 'at'> & { at: Date };

/** Lists the links of an incident in both directions, latest first. */
export function listLinks(tx: Tx, orgId: OrgId, incidentId: string, limit: number): Promise<LinkRow[]> {
  return queryRows<LinkRow>(tx)`
      select * from (
        select l.hit_id as "hitId", i.incident_id as "incidentId", v.type, v.value, l.at
        from incident_links l join incident_hits i on i.organization_id = l.organization_id and i.hit_id = l.hit_id
          join hit_connections v on v.organization_id = l.organization_id and v.hit_id = l.hit_id and v.value_key = l.value_key
        where l.organization_id = ${orgId} and l.incident_id = ${incidentId}
        union all
        select l.hit_id, l.incident_id, v.type, v.value, l.at
        from incident_hits i join incident_links l on l.organization_id = i.organization_id and l.hit_id = i.hit_id
          join hit_connections v on v.organization_id = l.organization_id and v.hit_id = l.hit_id and v.value_key = l.value_key
        where i.organization_id = ${orgId} and i.incident_id = ${incidentId}
      ) l order by at desc, "hitId" limit ${limit}`;
}

/** An entry of the time line. `fields` and `finding` are JSON texts. */
export type EntryRow = Omit<IncidentTimeline['entries'][number], 'at' | 'lastAt' | 'fields' | 'finding'> & {
  finding: string | null;
  at: Date;
  lastAt: Date | null;
  fields: string;
};

/** Lists `limit` + 1 entries of the time line of an incident, latest first. */
export function listTimeline(
  tx: Tx,
  orgId: OrgId,
  { incidentId, kinds }: { incidentId: string; kinds: readonly TimelineKind[] },
  { limit, after }: PageRequest,
): Promise<EntryRow[]> {
  const members = sql`select hit_id from incident_hits where organization_id = ${orgId} and incident_id = ${incidentId}`;
  return queryRows<EntryRow>(tx)`
      select * from (
        select h.id, i.from_at as at, 'hit' as kind, null as "keyId", null as actor, 'hit.seen' as action, h.headline as text, h.id as "hitId",
          '[]' as fields, i.to_at as "lastAt", null as finding
        from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
        where i.organization_id = ${orgId} and i.incident_id = ${incidentId}
        union all
        select id, at, 'comment', key_id, ${currentActor}, 'incident.commented', body, null, '[]', null, null from incident_comments e where ${ofIncident(orgId, incidentId)}
        union all
        select id, at, 'comment', key_id, ${currentActor}, 'hit.commented', body, hit_id, '[]', null, null from hit_comments e
        where organization_id = ${orgId} and hit_id in (${members})
        union all
        select id, at, 'finding', key_id, actor, 'hunt.finding', coalesce(entity, row_id), null, '[]', null,
          json_build_object('huntId', hunt_id, 'hunt', hunt_name, 'query', query, 'dataset', dataset, 'rowId', row_id, 'entity', entity,
            'fields', fields::json, 'addedAt', to_char(added_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text
        from incident_findings where ${ofIncident(orgId, incidentId)}
        union all
        select id, at, 'change', key_id, ${currentActor}, action, null, null, fields, null, null from incident_changes e where ${ofIncident(orgId, incidentId)}
        union all
        select id, at, 'status', key_id, ${currentActor}, 'hit.status_changed', reason, hit_id,
          json_build_array(json_build_object('field', 'status', 'before', from_status, 'after', to_status))::text, null, null
        from hit_changes e where organization_id = ${orgId} and hit_id in (${members})
      ) e where kind = any(${kinds}::text[]) ${after ? sql`and (at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by at desc, id desc limit ${limit + 1}`;
}

/** Parses the JSON texts of changed fields, and replaces people among their values with their current names. */
export async function readChangedFields(
  tx: Tx,
  orgId: OrgId,
  texts: readonly string[],
): Promise<RecordChange['fields'][]> {
  const parsed = texts.map((text) => JSON.parse(text) as ChangedField[]);
  const ids = parsed.flat().flatMap(({ beforeId, afterId }) => [beforeId ?? [], afterId ?? []].flat());
  const rows =
    ids.length === 0
      ? []
      : await queryRows<{ id: string; name: string }>(tx)`
          select id, name from persons where organization_id = ${orgId} and id = any(${ids}::uuid[])`;
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return parsed.map((fields) =>
    fields.map(({ field, before, after, beforeId, afterId }) => ({
      field,
      before: names.get(beforeId ?? '') ?? before,
      after: names.get(afterId ?? '') ?? after,
    })),
  );
}
