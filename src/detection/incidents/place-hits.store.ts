import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Severity } from '../analysis/candidate.ts';
import type { HitStatus } from '../hits/hits.schema.ts';
import type { Connection } from './connections.ts';
import type { SeenSpan } from './join-hits.ts';

/** Returns up to `limit` organizations with hits that wait to be placed, in random order, without those of `except`. */
export async function listWaitingOrgsAcrossOrgs(tx: Tx, limit: number, except: readonly OrgId[]): Promise<OrgId[]> {
  const rows = await queryRows<{ orgId: OrgId }>(tx)`
      select o.id as "orgId" from organizations o
      where o.id <> all (${except}::uuid[]) and exists (select from incident_queue q where q.organization_id = o.id)
      order by random() limit ${limit}`;
  return rows.map(({ orgId }) => orgId);
}

/** Serializes all changes of the incidents of an organization until the transaction ends. */
export const lockIncidents = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `incidents ${orgId}`);

/** Takes hits from the queue, newest first, without those that a transaction writes right now. */
export async function takeQueuedHits(tx: Tx, orgId: OrgId, limit: number): Promise<string[]> {
  const rows = await queryRows<{ hitId: string }>(tx)`
      delete from incident_queue where organization_id = ${orgId} and hit_id in (
        select hit_id from incident_queue where organization_id = ${orgId} order by hit_id desc limit ${limit} for update skip locked)
      returning hit_id as "hitId"`;
  return rows.map(({ hitId }) => hitId);
}

/** A hit to place. `rows` is JSON text. */
export type PlacedHitRow = {
  id: string;
  entity: string;
  entityType: string;
  status: string;
  rows: string;
  windowFrom: Date;
  windowTo: Date;
  lastSeenAt: Date;
};

export function listHitsToPlace(tx: Tx, orgId: OrgId, hitIds: readonly string[]): Promise<PlacedHitRow[]> {
  return queryRows<PlacedHitRow>(tx)`
      select id, entity, entity_type as "entityType", status, rows, window_from as "windowFrom", window_to as "windowTo", last_seen_at as "lastSeenAt"
      from hits where organization_id = ${orgId} and id = any(${hitIds}::uuid[])`;
}

export type HitConnections = {
  hitId: string;
  entityKey: string;
  seen: readonly SeenSpan[];
  connections: readonly Connection[];
};

/** Replaces the connections of hits. */
export async function replaceConnections(tx: Tx, orgId: OrgId, hits: readonly HitConnections[]): Promise<void> {
  const timed = hits.map((hit) => ({
    ...hit,
    from: new Date(Math.min(...hit.seen.map((span) => span.from))).toISOString(),
    to: new Date(Math.max(...hit.seen.map((span) => span.to))).toISOString(),
  }));
  const rows = timed.flatMap(({ connections, ...hit }) => connections.map((connection) => ({ ...hit, ...connection })));
  await sql`
    insert into incident_hits (organization_id, hit_id, entity_key, seen, from_at, to_at)
    select ${orgId}::uuid, * from unnest(${timed.map(({ hitId }) => hitId)}::uuid[], ${timed.map(({ entityKey }) => entityKey)}::uuid[],
      ${timed.map(({ seen }) => JSON.stringify(seen))}::text[], ${timed.map(({ from }) => from)}::timestamptz[], ${timed.map(({ to }) => to)}::timestamptz[])
    on conflict (organization_id, hit_id) do update set entity_key = excluded.entity_key, seen = excluded.seen,
      from_at = excluded.from_at, to_at = excluded.to_at`.execute(tx);
  await sql`
    delete from hit_connections
      where organization_id = ${orgId} and hit_id = any(${hits.map(({ hitId }) => hitId)}::uuid[])`.execute(tx);
  await sql`
    insert into hit_connections (organization_id, hit_id, value_key, kind, type, value, cells, entity_key, from_at, to_at)
    select ${orgId}::uuid, * from unnest(${rows.map(({ hitId }) => hitId)}::uuid[], ${rows.map(({ key }) => key)}::uuid[],
      ${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ type }) => type)}::text[], ${rows.map(({ value }) => value)}::text[],
      ${rows.map(({ cells }) => JSON.stringify(cells))}::text[], ${rows.map(({ entityKey }) => entityKey)}::uuid[],
      ${rows.map(({ from }) => from)}::timestamptz[], ${rows.map(({ to }) => to)}::timestamptz[])`.execute(tx);
}

/**
 * Recounts how many other entities had the values of hits before, for these hits and for later hits with the same values. Hits within the span
 * before a hit do not count, so that an attack does not make its own values look common. Returns the hits whose counts changed.
 */
export async function countOthers(
  tx: Tx,
  orgId: OrgId,
  hitIds: readonly string[],
  { spanMs, othersMax }: Reach,
): Promise<string[]> {
  const changed = await queryRows<{ hitId: string }>(tx)`
    update hit_connections c set others = n.others from (
      select t.hit_id, t.value_key, (select count(*)::int from (
        select distinct b.entity_key from hit_connections b where b.organization_id = ${orgId} and b.value_key = t.value_key
          and b.from_at < t.from_at - make_interval(secs => ${spanMs / 1000}) and b.entity_key not in (t.entity_key, t.value_key)
        limit ${othersMax + 1}) b) as others
      from (
        select hit_id, value_key, entity_key, from_at from hit_connections where organization_id = ${orgId} and hit_id = any(${hitIds}::uuid[])
        union
        select l.hit_id, l.value_key, l.entity_key, l.from_at from hit_connections h
          join hit_connections l on l.organization_id = h.organization_id and l.value_key = h.value_key
            and l.from_at > h.from_at + make_interval(secs => ${spanMs / 1000}) and l.others <= ${othersMax}
        where h.organization_id = ${orgId} and h.hit_id = any(${hitIds}::uuid[])
      ) t
    ) n
    where c.organization_id = ${orgId} and c.hit_id = n.hit_id and c.value_key = n.value_key and c.others <> n.others
    returning c.hit_id as "hitId"`;
  return changed.map(({ hitId }) => hitId);
}

/** A hit that may join others. `incidentId` is null if it is alone. `seen` is JSON text. */
export type NearHitRow = {
  id: string;
  severity: Severity;
  status: HitStatus;
  seen: string;
  incidentId: string | null;
  isPinned: boolean;
  isTouched: boolean;
} & RiskFactorsRow;

/** The fields that determine how much a hit adds to the risk of its entity. `riskKey` is null if many others have the entity. */
export type RiskFactorsRow = {
  riskKey: string | null;
  toAt: Date;
  confidence: number;
  truePositives: number;
  reviews: number;
};

/** Joins the tables from which the risk of the hits `h`, `i` in `incident_hits`, is computed. */
export const riskFactors = sql`left join hit_connections r on r.organization_id = i.organization_id and r.hit_id = i.hit_id and r.value_key = i.entity_key
  left join hit_reviews v on v.organization_id = h.organization_id and v.detection_id = h.detection_id`;
export const riskColumns = (othersMax: number): RawBuilder<unknown> => sql`
  case when r.others <= ${othersMax} then r.value_key end as "riskKey", i.to_at as "toAt", h.confidence,
  coalesce(v.true_positives, 0) as "truePositives", coalesce(v.true_positives + v.benign + v.false_positives, 0) as reviews`;

/** How far apart hits may be that share a value, and hits of one entity that add to its risk. */
export type Reach = { spanMs: number; riskSpanMs: number; othersMax: number };

/**
 * Lists hits with all that belong to the same incidents, and all that share a specific value with one of them or add to the risk of its entity, also
 * those of incidents that people touched. Hits out of reach are left out.
 */
export function listNearHits(
  tx: Tx,
  orgId: OrgId,
  hitIds: readonly string[],
  { spanMs, riskSpanMs, othersMax }: Reach,
): Promise<NearHitRow[]> {
  return queryRows<NearHitRow>(tx)`
      with near as (
        select unnest(${hitIds}::uuid[]) as hit_id
        union
        select n.hit_id from hit_connections h join hit_connections n on n.organization_id = h.organization_id and n.value_key = h.value_key
          and n.to_at >= h.from_at - make_interval(secs => ${spanMs / 1000})
          and n.from_at <= h.to_at + make_interval(secs => ${spanMs / 1000}) and n.others <= ${othersMax}
        where h.organization_id = ${orgId} and h.hit_id = any(${hitIds}::uuid[]) and h.others <= ${othersMax}
        union
        select n.hit_id from hit_connections h join hit_connections n on n.organization_id = h.organization_id and n.value_key = h.value_key
          and n.entity_key = n.value_key and n.to_at between h.to_at - make_interval(secs => ${riskSpanMs / 1000})
          and h.to_at + make_interval(secs => ${riskSpanMs / 1000}) and n.others <= ${othersMax}
        where h.organization_id = ${orgId} and h.hit_id = any(${hitIds}::uuid[]) and h.entity_key = h.value_key and h.others <= ${othersMax}
      ), incidents_near as (
        select distinct incident_id from incident_hits where organization_id = ${orgId} and hit_id in (select hit_id from near)
      )
      select i.hit_id as id, h.severity, h.status, i.seen, i.incident_id as "incidentId", i.pinned as "isPinned",
        coalesce(c.touched or c.state = 'closed', false) as "isTouched", ${riskColumns(othersMax)}
      from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id ${riskFactors}
        left join incidents c on c.organization_id = i.organization_id and c.id = i.incident_id
      where i.organization_id = ${orgId} and (i.hit_id in (select hit_id from near) or i.incident_id in (select incident_id from incidents_near))`;
}

/** A hit of an incident with what it adds to the risk of its entity, of which it shows the name. */
export type RiskMemberRow = {
  id: string;
  severity: Severity;
  status: HitStatus;
  type: string;
  value: string;
} & RiskFactorsRow;

/** Lists the hits of an incident whose entities are specific. */
export function listRiskMembers(tx: Tx, orgId: OrgId, incidentId: string, othersMax: number): Promise<RiskMemberRow[]> {
  return queryRows<RiskMemberRow>(tx)`
      select i.hit_id as id, h.severity, h.status, r.type, r.value, ${riskColumns(othersMax)}
      from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id ${riskFactors}
      where i.organization_id = ${orgId} and i.incident_id = ${incidentId} and r.others <= ${othersMax}`;
}

/** Where a hit is. `incidentId` is null if it is alone. */
export type HitPlaceRow = { hitId: string; incidentId: string | null };

/** Lists where hits are. Those that were not placed yet are left out. */
export function listHitPlaces(tx: Tx, orgId: OrgId, hitIds: readonly string[]): Promise<HitPlaceRow[]> {
  return queryRows<HitPlaceRow>(tx)`
      select hit_id as "hitId", incident_id as "incidentId" from incident_hits
      where organization_id = ${orgId} and hit_id = any(${hitIds}::uuid[])`;
}

export type ValueRow = { hitId: string; key: string; others: number };

/** Lists the specific values of hits. */
export function listSpecificValues(
  tx: Tx,
  orgId: OrgId,
  hitIds: readonly string[],
  othersMax: number,
): Promise<ValueRow[]> {
  return queryRows<ValueRow>(tx)`
      select hit_id as "hitId", value_key as key, others from hit_connections
      where organization_id = ${orgId} and hit_id = any(${hitIds}::uuid[]) and others <= ${othersMax}`;
}

/** Puts hits into an incident, or into none. */
export async function assignHits(
  tx: Tx,
  orgId: OrgId,
  {
    hitIds,
    incidentId,
    isPinned = false,
  }: { hitIds: readonly string[]; incidentId: string | null; isPinned?: boolean },
): Promise<void> {
  await sql`
    update incident_hits set incident_id = ${incidentId}, pinned = ${isPinned}
    where organization_id = ${orgId} and hit_id = any(${hitIds}::uuid[])`.execute(tx);
}

export type NewLink = { incidentId: string; hitId: string; key: string };

/** Replaces the links of hits with incidents that people touched. */
export async function replaceLinks(
  tx: Tx,
  orgId: OrgId,
  { hitIds, links }: { hitIds: readonly string[]; links: readonly NewLink[] },
  now: Date,
): Promise<void> {
  await sql`
    delete from incident_links where organization_id = ${orgId} and hit_id = any(${hitIds}::uuid[])`.execute(tx);
  await sql`
    insert into incident_links (organization_id, incident_id, hit_id, value_key, at)
    select ${orgId}::uuid, incident_id, hit_id, value_key, ${now}::timestamptz
    from unnest(${links.map(({ incidentId }) => incidentId)}::uuid[], ${links.map(({ hitId }) => hitId)}::uuid[], ${links.map(({ key }) => key)}::uuid[])
      as l (incident_id, hit_id, value_key)
    on conflict do nothing`.execute(tx);
}
