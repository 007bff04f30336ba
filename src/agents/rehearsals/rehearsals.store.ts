import { sql } from 'kysely';
import { detectionConditions } from '../../detection/detections/detection-views.store.ts';
import type { Definition } from '../../detection/detections/record/detection-record.ts';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { RehearsedTechnique } from './make-events.ts';

/** The detections of an organization that are due, in a claim that ends at `until`. */
export type RehearsalClaim = { orgId: OrgId; ids: string[]; until: Date };

/** Claims due detections of one organization: of the next one after `after`, so that each has its turn, however many detections it has. */
export async function claimDueAcrossOrgs(
  tx: Tx,
  { after, now, until, limit }: { after: OrgId | null; now: Date; until: Date; limit: number },
): Promise<RehearsalClaim | undefined> {
  const rows = await queryRows<{ orgId: OrgId; id: string }>(tx)`
    with next as (
      select organization_id from rehearsed_detections where due_at <= ${now} and ${isNotSuspended(sql`organization_id`)}
      order by organization_id <= ${after}::uuid, organization_id limit 1
    ), due as (
      select d.organization_id, d.detection_id from rehearsed_detections d join next using (organization_id)
      where d.due_at <= ${now} order by d.due_at, d.detection_id limit ${limit} for update of d skip locked
    )
    update rehearsed_detections d set due_at = ${until} from due
    where d.organization_id = due.organization_id and d.detection_id = due.detection_id
    returning d.organization_id as "orgId", d.detection_id as id`;
  return rows[0] && { orgId: rows[0].orgId, ids: rows.map(({ id }) => id), until };
}

const isEnabled = sql.join(detectionConditions({ enabled: true }), sql` and `);
const isRehearsable = sql`${isEnabled} and tocsin_connection(a.organization_id, a.connection_id, a.siem_type) is null`;

export type RehearsedDefinition = { id: string; name: string; definition: Definition };

/** Returns the enabled detections on the log store, or those of them with the given IDs. */
export async function listRehearsable(
  tx: Tx,
  orgId: OrgId,
  ids: readonly string[] | null,
): Promise<RehearsedDefinition[]> {
  const rows = await queryRows<{ id: string; name: string; definition: string }>(tx)`
    select a.id, a.name, v.definition from agents a
      join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id and v.revision = a.revision
    where a.organization_id = ${orgId} and ${isRehearsable}
      and (${ids}::uuid[] is null or a.id = any(${ids}::uuid[])) order by a.id`;
  return rows.map(({ definition, ...row }) => ({ ...row, definition: JSON.parse(definition) as Definition }));
}

/** Returns the techniques on which a detection fired when it was rehearsed the last time. */
export async function listFired(tx: Tx, orgId: OrgId, detectionId: string): Promise<string[]> {
  const row = await queryRow<{ fired: string[] }>(tx)`
    select fired from rehearsed_detections where organization_id = ${orgId} and detection_id = ${detectionId}`;
  return (row?.fired ?? []).toSorted();
}

export async function storeTechniques(
  tx: Tx,
  orgId: OrgId,
  techniques: readonly RehearsedTechnique[],
  now: Date,
): Promise<void> {
  const rows = techniques.map(({ technique, events, eventCount, sources }) => ({
    technique,
    events: eventCount,
    datasets: Object.keys(events).toSorted(),
    sources,
  }));
  await sql`
    insert into rehearsals (organization_id, technique, at, events, datasets, sources)
    select ${orgId}, x.technique, ${now}, x.events, x.datasets, x.sources
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (technique text, events int, datasets text[], sources text[])
    order by x.technique
    on conflict (organization_id, technique) do update set at = excluded.at, events = excluded.events,
      datasets = excluded.datasets, sources = excluded.sources`.execute(tx);
}

/** What a detection did with the events of the rehearsed techniques. */
export type DetectionResult = { id: string; fired: string[]; muted: string[]; failure: string | null };

/**
 * Stores the results of detections for the given techniques, and keeps those for others. With a claim, plans the next rehearsal at `next`, unless
 * the detection was changed since, and forgets the results of claimed detections that cannot be rehearsed anymore.
 */
export async function storeResults(
  tx: Tx,
  orgId: OrgId,
  results: readonly DetectionResult[],
  { techniques, now, claim, next }: { techniques: string[]; now: Date; claim?: RehearsalClaim; next?: Date },
): Promise<void> {
  const until = claim?.until ?? null;
  await sql`
    update rehearsed_detections d set rehearsed_at = ${now}, failure = x.failure,
      fired = array(select t from unnest(d.fired) t where t <> all(${techniques}::text[])) || x.fired,
      muted = array(select t from unnest(d.muted) t where t <> all(${techniques}::text[])) || x.muted,
      due_at = case when d.due_at = ${until} then ${next ?? null}::timestamptz else d.due_at end
    from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as x (id uuid, fired text[], muted text[], failure text)
    where d.organization_id = ${orgId} and d.detection_id = x.id`.execute(tx);
  if (!claim) return;
  await sql`
    update rehearsed_detections set due_at = case when due_at = ${until} then null else due_at end, fired = '{}', muted = '{}', failure = null
    where organization_id = ${orgId} and detection_id = any(${claim.ids}::uuid[])
      and not exists (select from agents a
      where a.organization_id = ${orgId} and a.id = detection_id and ${isRehearsable})`.execute(tx);
}

export type RehearsalRow = {
  technique: string;
  at: Date;
  events: number;
  datasets: string[];
  sources: string[];
  fired: string;
  muted: string;
};

const listedMax = 20;

/** Returns the last rehearsal of each technique. `fired` and `muted` are JSON lists of enabled detections. */
export const listRehearsalRows = (
  tx: Tx,
  orgId: OrgId,
  techniques: readonly string[] | null,
): Promise<RehearsalRow[]> =>
  queryRows<RehearsalRow>(tx)`
    with results as materialized (
      select a.id, a.name, d.fired, d.muted from rehearsed_detections d
        join agents a on a.organization_id = d.organization_id and a.id = d.detection_id
      where d.organization_id = ${orgId} and (d.fired <> '{}' or d.muted <> '{}') and ${isEnabled}
    )
    select r.technique, r.at, r.events, r.datasets, r.sources,
      (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name)), '[]')::text from (
        select id, name from results where r.technique = any(fired) order by name, id limit ${listedMax}) f) as fired,
      (select coalesce(json_agg(json_build_object('id', m.id, 'name', m.name)), '[]')::text from (
        select id, name from results where r.technique = any(muted) order by name, id limit ${listedMax}) m) as muted
    from rehearsals r where r.organization_id = ${orgId} and (${techniques}::text[] is null or r.technique = any(${techniques}::text[]))
    order by r.technique`;

const failuresMax = 100;

/** Returns enabled detections whose query failed on the events. */
export const listFailures = (tx: Tx, orgId: OrgId): Promise<{ id: string; name: string; failure: string }[]> =>
  queryRows<{ id: string; name: string; failure: string }>(tx)`
    select a.id, a.name, d.failure from rehearsed_detections d join agents a on a.organization_id = d.organization_id and a.id = d.detection_id
    where d.organization_id = ${orgId} and d.failure is not null and ${isEnabled}
    order by a.name, a.id limit ${failuresMax}`;

/** Returns the techniques that an item of the feed mentions. */
export async function listItemTechniques(tx: Tx, itemId: string): Promise<string[]> {
  const rows = await queryRows<{ technique: string }>(tx)`
    select distinct value as technique from item_terms where item_id = ${itemId} and kind = 'technique' order by value`;
  return rows.map(({ technique }) => technique);
}
