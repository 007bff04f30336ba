import { sql, type RawBuilder } from 'kysely';
import { deleteRowsWithValue, replaceValue } from '../../platform/db/erasure.store.ts';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { Author } from '../../platform/http/caller.ts';
import type { RecordChange } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import { severities, type Severity } from '../analysis/candidate.ts';
import { currentActor } from '../../platform/orgs/sessions/persons.store.ts';
import type { IncidentResolution, IncidentState } from './incidents.schema.ts';
import type { IncidentRules } from './join-hits.ts';

export type TargetRow = { id: string; severity: Severity; state: IncidentState };

export function listTargets(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<TargetRow[]> {
  return queryRows<TargetRow>(tx)`
      select id, severity, state from incidents where organization_id = ${orgId} and id = any(${ids}::uuid[])`;
}

/** What an incident without hits is about. */
export type IncidentSubject = {
  title: string;
  severity: Severity;
  from: Date;
  to: Date;
  dueMs: IncidentRules['dueMs'];
};

/** Creates an incident without hits. `refreshIncidents` fills in what follows from its hits. One with a `subject` may stay without. */
export async function createIncident(
  tx: Tx,
  orgId: OrgId,
  { id, now, isTouched = false, subject }: { id: string; now: Date; isTouched?: boolean; subject?: IncidentSubject },
): Promise<void> {
  const { title, severity, from, to } = subject ?? { title: '', severity: 'none', from: now, to: now };
  const dueAt = subject ? new Date(now.getTime() + subject.dueMs[subject.severity]) : now;
  await sql`
    insert into incidents (organization_id, id, severity, severity_set, title, touched, revision, first_at, last_at, due_at, created_at, updated_at)
    values (${orgId}, ${id}, ${severity}, ${subject !== undefined}, ${title}, ${isTouched}, 0, ${from}, ${to}, ${dueAt}, ${now}, ${now})`.execute(
    tx,
  );
}

type RefreshOptions = {
  dueMs: IncidentRules['dueMs'];
  now: Date;
  /** Undefined for the service. */
  author?: Author;
  /** Action to record in the history. Default: `incident.hits_changed`. */
  action?: string;
  fields?: RecordChange['fields'];
};

/** Returns the interval after which an incident of a severity is due. */
const dueAfter = (dueMs: IncidentRules['dueMs'], severity: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  make_interval(secs => (${severities.map((one) => dueMs[one] / 1000)}::float8[])[array_position(${[...severities]}::text[], ${severity})])`;

const rank = sql`array_position(${[...severities]}::text[], h.severity)`;

/**
 * Recomputes what follows from the hits of incidents and increments their revisions. An incident that lost all its hits and that nobody touched is
 * closed as outdated.
 */
export async function refreshIncidents(
  tx: Tx,
  orgId: OrgId,
  ids: readonly string[],
  { dueMs, now, author, ...what }: RefreshOptions,
): Promise<void> {
  if (ids.length === 0) return;
  const changed = await queryRows<{ id: string; revision: number; hits: number }>(tx)`
      with figures as (
        select i.incident_id as id, count(*)::int as hits, max(${rank}) as severity, min(i.from_at) as first_at, max(i.to_at) as last_at,
          count(distinct h.detection_id) as detections, count(distinct i.entity_key) as entities,
          (array_agg(coalesce(v.value, h.entity) order by ${rank} desc, i.from_at, h.id))[1] as entity
        from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
          left join hit_connections v on v.organization_id = i.organization_id and v.hit_id = i.hit_id and v.value_key = i.entity_key
        where i.organization_id = ${orgId} and i.incident_id = any(${ids}::uuid[]) group by i.incident_id
      ), dated as (
        select f.*, case when c.severity_set then c.severity else (${[...severities]}::text[])[f.severity] end as shown
        from figures f join incidents c on c.organization_id = ${orgId} and c.id = f.id
      ), updated as (
        update incidents c set severity = d.shown, first_at = d.first_at, last_at = d.last_at,
          due_at = c.created_at + ${dueAfter(dueMs, sql`d.shown`)},
          title = d.entity || case when d.entities > 1 then ' and ' || d.entities - 1 || ' more' else '' end || ': '
            || d.hits || case when d.hits = 1 then ' hit' else ' hits' end || ' of '
            || d.detections || case when d.detections = 1 then ' detection' else ' detections' end,
          revision = c.revision + 1, updated_at = greatest(${now}, c.updated_at + interval '1 millisecond')
        from dated d where c.organization_id = ${orgId} and c.id = d.id returning c.id, c.revision, d.hits
      ), emptied as (
        update incidents c set state = case when c.touched then c.state else 'closed' end,
          resolution = case when c.touched then c.resolution else 'outdated' end,
          revision = c.revision + 1, updated_at = greatest(${now}, c.updated_at + interval '1 millisecond')
        where c.organization_id = ${orgId} and c.id = any(${ids}::uuid[]) and c.merged_into is null and c.id not in (select id from figures)
        returning c.id, c.revision, 0 as hits
      )
      select * from updated union all select * from emptied`;
  for (const { id, revision, hits } of changed)
    await insertChange(tx, orgId, {
      incidentId: id,
      at: now,
      author,
      action: what.action ?? 'incident.hits_changed',
      fields: [...(what.fields ?? []), { field: 'hits', before: null, after: hits }],
      revision,
    });
}

/** Merges incidents without hits into others. Their IDs and those of incidents merged into them stay valid. */
export async function mergeEmptyIncidents(
  tx: Tx,
  orgId: OrgId,
  successors: ReadonlyMap<string, string>,
  now: Date,
): Promise<void> {
  for (const [id, into] of successors)
    await sql`
      update incidents set merged_into = ${into}, updated_at = ${now} where organization_id = ${orgId} and (id = ${id} or merged_into = ${id})
        and id <> ${into} and not exists (select from incident_hits
        where organization_id = ${orgId} and incident_id = ${id})`.execute(tx);
}

/** Reopens a closed incident, because a hit of a higher severity joined it. */
export async function reopenIncident(tx: Tx, orgId: OrgId, { id, state }: TargetRow, now: Date): Promise<void> {
  if (state !== 'closed') return;
  const row = await queryRow<{ revision: number }>(tx)`
      update incidents set state = 'open', resolution = null, close_batch = null, revision = revision + 1
      where organization_id = ${orgId} and id = ${id} returning revision`;
  const fields = [{ field: 'state', before: state, after: 'open' }];
  await insertChange(tx, orgId, {
    incidentId: id,
    at: now,
    action: 'incident.reopened',
    fields,
    revision: row!.revision,
  });
}

/** Moves all hits of incidents into another one, because a person merged them. */
export async function assignAll(
  tx: Tx,
  orgId: OrgId,
  { from, to }: { from: readonly string[]; to: string },
): Promise<void> {
  await sql`
    update incident_hits set incident_id = ${to}, pinned = true
    where organization_id = ${orgId} and incident_id = any(${from}::uuid[])`.execute(tx);
}

/** An incident that is locked until the transaction ends. */
export type LockedIncident = {
  id: string;
  state: IncidentState;
  resolution: IncidentResolution | null;
  severity: Severity;
  severitySet: boolean;
  owner: string | null;
  ownerId: string | null;
  revision: number;
  closeBatch: string | null;
  updatedAt: Date;
};

/** Finds an incident by its own ID or that of an incident merged into it, and locks it. */
export function lockIncident(tx: Tx, orgId: OrgId, id: string): Promise<LockedIncident | undefined> {
  return queryRow<LockedIncident>(tx)`
      select id, state, resolution, severity, severity_set as "severitySet", owner, owner_id as "ownerId", revision, close_batch as "closeBatch", updated_at as "updatedAt"
      from incidents where organization_id = ${orgId}
        and id = (select coalesce(merged_into, id) from incidents where organization_id = ${orgId} and id = ${id}) for update`;
}

/** The fields of an incident that a person can set. A null `severity` means the highest severity of the hits. */
export type IncidentDecision = Pick<LockedIncident, 'state' | 'resolution' | 'owner' | 'ownerId' | 'closeBatch'> & {
  severity: Severity | null;
};

/** Stores what a person decided about an incident. Returns its revision and severity. */
export async function storeDecision(
  tx: Tx,
  orgId: OrgId,
  id: string,
  {
    state,
    resolution,
    severity,
    owner,
    ownerId,
    closeBatch,
    dueMs,
    now,
  }: IncidentDecision & { dueMs: IncidentRules['dueMs']; now: Date },
): Promise<{ revision: number; severity: Severity }> {
  const highest = sql`(select (${[...severities]}::text[])[max(${rank})] from incident_hits i
    join hits h on h.organization_id = i.organization_id and h.id = i.hit_id where i.organization_id = ${orgId} and i.incident_id = ${id})`;
  const shown = sql`coalesce(${severity}, ${highest}, severity)`;
  const row = await queryRow<{ revision: number; severity: Severity }>(tx)`
      update incidents set state = ${state}, resolution = ${resolution}, severity = ${shown}, severity_set = ${severity !== null}, owner = ${owner},
        owner_id = ${ownerId},
        due_at = created_at + ${dueAfter(dueMs, shown)}, close_batch = ${closeBatch}, touched = true, revision = revision + 1,
        updated_at = greatest(${now}, updated_at + interval '1 millisecond')
      where organization_id = ${orgId} and id = ${id} returning revision, severity`;
  return row!;
}

/** Moves the links of incidents to another one, which now has their hits. */
export async function moveLinks(tx: Tx, orgId: OrgId, from: readonly string[], to: string): Promise<void> {
  await sql`
    with moved as (
      delete from incident_links where organization_id = ${orgId} and incident_id = any(${from}::uuid[]) returning *
    )
    insert into incident_links (organization_id, incident_id, hit_id, value_key, at)
    select organization_id, ${to}::uuid, hit_id, value_key, max(at)
      from moved group by organization_id, hit_id, value_key on conflict do nothing`.execute(tx);
  await sql`
    delete from incident_links l using incident_hits i where l.organization_id = ${orgId} and l.incident_id = ${to}
      and i.organization_id = l.organization_id and i.hit_id = l.hit_id and i.incident_id = l.incident_id`.execute(tx);
}

export async function markTouched(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  await sql`
    update incidents set touched = true where organization_id = ${orgId} and id = any(${ids}::uuid[])`.execute(tx);
}

type NewChange = {
  incidentId: string;
  at: Date;
  /** Undefined for the service. */
  author?: Author | undefined;
  action: string;
  fields: ChangedField[];
  revision: number;
};

/** A changed field. Values that are names of people are stored with their IDs, because people can be renamed. */
export type ChangedField = RecordChange['fields'][number] & { beforeId?: string | null; afterId?: string | null };

/** Adds to the history of an incident. */
export async function insertChange(
  tx: Tx,
  orgId: OrgId,
  { incidentId, at, author, action, fields, revision }: NewChange,
): Promise<void> {
  await sql`
    insert into incident_changes (organization_id, id, incident_id, at, key_id, actor, person_id, action, fields, revision)
    values (${orgId}, ${uuidv7(at)}, ${incidentId}, ${at}, ${author?.keyId ?? null}, ${author?.subject ?? null}, ${author?.personId ?? null}, ${action},
      ${JSON.stringify(fields)}, ${revision})`.execute(tx);
}

/** A change of an incident. `fields` is JSON text. */
export type ChangeRow = {
  id: string;
  at: Date;
  keyId: string | null;
  actor: string | null;
  action: string;
  fields: string;
  revision: number;
};

/** Lists the changes of an incident after a revision, latest first. */
export function listChanges(
  tx: Tx,
  orgId: OrgId,
  { incidentId, after, limit }: { incidentId: string; after: number; limit: number },
): Promise<ChangeRow[]> {
  return queryRows<ChangeRow>(tx)`
      select id, at, key_id as "keyId", ${currentActor} as actor, action, fields, revision from incident_changes e
      where organization_id = ${orgId} and incident_id = ${incidentId} and revision > ${after} order by at desc, id desc limit ${limit}`;
}

/** Replaces a value in incidents, their histories and comments. What connects hits is read again from their rows. */
export async function eraseFromIncidents(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await replaceValue(tx, { orgId, table: 'incidents', columns: ['title', 'owner'] }, value);
  await replaceValue(tx, { orgId, table: 'incident_changes', columns: ['fields'] }, value);
  await deleteRowsWithValue(tx, { orgId, table: 'hit_connections', columns: ['value', 'cells'] }, value);
  await replaceValue(tx, { orgId, table: 'incident_comments', columns: ['body'] }, value);
  const columns = ['hunt_name', 'query', 'row_id', 'entity', 'fields'];
  await replaceValue(tx, { orgId, table: 'incident_findings', columns }, value);
  return {};
}

/** Deletes at most `limit` incidents whose hits are all deleted. Returns their number. */
export async function deleteEmptyIncidentsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from incidents where (organization_id, id) in (
      select organization_id, id from incidents c where updated_at < ${expiry.before} and ${belongsTo(expiry)}
        and not exists (select from incident_hits h where h.organization_id = c.organization_id and h.incident_id = c.id) limit ${limit})
    returning id`.execute(tx);
  return rows.length;
}
