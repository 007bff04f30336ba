import { sql } from 'kysely';
import type { EntityType } from './entity-names.ts';
import { queryRows, type Tx, queryRow } from '../../platform/db/db.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { Author } from '../../platform/http/caller.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';

const [ownNamesList, aliasesList] = ['own-domains', 'entity-aliases'];
/** The value lists in which people state the domains and cloud accounts of the organization, and names that are one entity. They prove nothing else. */
export const entityLists: readonly string[] = [ownNamesList, aliasesList];

/** Returns the domains and cloud accounts that people listed, and the lines in which they listed names of one entity. */
export async function listStatedNames(tx: Tx, orgId: OrgId): Promise<{ own: string[]; aliases: string[] }> {
  const rows = await queryRows<{ list: string; entry: string }>(tx)`
    select l.name as list, v.entry from value_lists l cross join lateral jsonb_array_elements_text(l.list_values::jsonb) as v (entry)
    where l.organization_id = ${orgId} and l.name = any(${entityLists}::text[])`;
  const entriesOf = (list: string | undefined): string[] =>
    rows.filter((row) => row.list === list).map(({ entry }) => entry);
  return { own: entriesOf(ownNamesList), aliases: entriesOf(aliasesList) };
}

/** A decision of a person that two names are one entity or two, or a log that states both, with the keys of their stems. */
export type DecisionRow = {
  id: string;
  entityType: EntityType;
  entity: string;
  aliasType: EntityType;
  alias: string;
  entityStem: string;
  aliasStem: string;
  isJoined: boolean;
  source: 'person' | 'log';
  reason: string | null;
  keyId: string | null;
  actor: string | null;
  at: Date;
};

/** Serializes decisions of an organization until the transaction ends. */
export const lockDecisions = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `entity decisions ${orgId}`);

/** Lists the decisions about names with one of the stems. */
export function listDecisions(tx: Tx, orgId: OrgId, stems: readonly string[]): Promise<DecisionRow[]> {
  return queryRows<DecisionRow>(tx)`
    select id, entity_type as "entityType", entity, alias_type as "aliasType", alias, replace(entity_stem::text, '-', '') as "entityStem",
      replace(alias_stem::text, '-', '') as "aliasStem", is_joined as "isJoined", source, reason, key_id as "keyId", actor, at
    from entity_decisions where organization_id = ${orgId} and id in (
      select id from entity_decisions where organization_id = ${orgId} and entity_stem = any(${stems}::uuid[])
      union all select id from entity_decisions where organization_id = ${orgId} and alias_stem = any(${stems}::uuid[]))
    order by id`;
}

export async function countDecisions(tx: Tx, orgId: OrgId, source: DecisionRow['source']): Promise<number> {
  const [row] = await queryRows<{ n: number }>(tx)`
    select count(*)::int as n from entity_decisions where organization_id = ${orgId} and source = ${source}`;
  return row!.n;
}

export type NewDecision = Omit<DecisionRow, 'keyId' | 'actor'>;

export async function insertDecision(tx: Tx, { orgId, keyId, subject }: Author, row: NewDecision): Promise<void> {
  await sql`
    insert into entity_decisions (organization_id, id, entity_type, entity, alias_type, alias, entity_stem, alias_stem, is_joined, source,
      reason, key_id, actor, at)
    values (${orgId}, ${row.id}, ${row.entityType}, ${row.entity}, ${row.aliasType}, ${row.alias}, ${row.entityStem}, ${row.aliasStem},
      ${row.isJoined}, ${row.source}, ${row.reason}, ${keyId}, ${subject ?? null}, ${row.at})`.execute(tx);
}

export async function deleteDecisions(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  await sql`delete from entity_decisions where organization_id = ${orgId} and id = any(${ids}::uuid[])`.execute(tx);
}

/** Deletes decisions about names that contain a value, and those whose reason does. */
async function deleteDecisionsWith(tx: Tx, orgId: OrgId, value: string): Promise<void> {
  await sql`
    delete from entity_decisions where organization_id = ${orgId}
      and strpos(lower(entity || chr(10) || alias || chr(10) || coalesce(reason, '')), lower(${value})) > 0`.execute(
    tx,
  );
}

/** An entity as hits write it, with the times and number of these hits. */
export type HitNameRow = { type: string; value: string; hits: number; firstSeenAt: Date; lastSeenAt: Date };

/** Lists the entities of hits whose names have one of the stems, as the hits write them. */
export function listHitNames(tx: Tx, orgId: OrgId, stems: readonly string[], limit: number): Promise<HitNameRow[]> {
  return queryRows<HitNameRow>(tx)`
    select entity_type as type, entity as value, count(*)::int as hits, min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
    from hits where organization_id = ${orgId}
      and id in (select hit_id from hit_values where organization_id = ${orgId} and value_key = any(${stems}::uuid[]))
    group by 1, 2 order by 1, 2 limit ${limit}`;
}

type NewNote = { entity: string; entityType: string; note: string };
type EntityNoteRow = NewNote & { id: string; keyId: string | null; actor: string | null; updatedAt: Date };

/** Stores notes, each in place of the previous one on its entity. The notes are on different entities. */
export async function upsertNotes(
  tx: Tx,
  orgId: OrgId,
  notes: NewNote[],
  { author, now }: { author: Author; now: Date },
): Promise<void> {
  if (notes.length === 0) return;
  await sql`
    insert into entity_notes as e (organization_id, id, entity, entity_type, note, key_id, actor, updated_at)
    select ${orgId}::uuid, id, entity, entity_type, note, ${author.keyId}, ${author.subject ?? null}, ${now}::timestamptz
    from unnest(${notes.map(() => uuidv7(now))}::uuid[], ${notes.map(({ entity }) => entity)}::text[],
      ${notes.map(({ entityType }) => entityType)}::text[], ${notes.map(({ note }) => note)}::text[]) as n (id, entity, entity_type, note)
    on conflict (organization_id, md5(lower(entity)), entity_type) do update set id = excluded.id, entity = excluded.entity,
      note = excluded.note, key_id = excluded.key_id, actor = excluded.actor,
      updated_at = greatest(excluded.updated_at, e.updated_at + interval '1 millisecond')`.execute(tx);
}

/** Serializes changes of the notes of an organization until the transaction ends, also of those that do not exist yet. */
export const lockNotes = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `entity notes ${orgId}`);

/** Returns the notes on entities, in any order. Entities without a note are left out. */
export function findNotesOn(tx: Tx, orgId: OrgId, entities: Omit<NewNote, 'note'>[]): Promise<EntityNoteRow[]> {
  return queryRows<EntityNoteRow>(tx)`
      select e.id, e.entity, e.entity_type as "entityType", e.note, e.key_id as "keyId", e.actor, e.updated_at as "updatedAt"
      from entity_notes e join unnest(${entities.map(({ entity }) => entity)}::text[],
        ${entities.map(({ entityType }) => entityType)}::text[]) as n (entity, entity_type)
        on md5(lower(e.entity)) = md5(lower(n.entity)) and e.entity_type = n.entity_type
      where e.organization_id = ${orgId}`;
}

/** Deletes notes. Returns the number of notes that existed. */
export async function deleteNotes(tx: Tx, orgId: OrgId, notes: Omit<NewNote, 'note'>[]): Promise<number> {
  if (notes.length === 0) return 0;
  const { numAffectedRows } = await sql`
    delete from entity_notes e using unnest(${notes.map(({ entity }) => entity)}::text[],
      ${notes.map(({ entityType }) => entityType)}::text[]) as n (entity, entity_type)
    where e.organization_id = ${orgId} and md5(lower(e.entity)) = md5(lower(n.entity))
    and e.entity_type = n.entity_type`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

export async function countNotes(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select count(*) as n from entity_notes where organization_id = ${orgId}`;
  return row!.n;
}

/** Lists `limit` + 1 notes, last changed first. */
export function listNotes(
  tx: Tx,
  orgId: OrgId,
  entities: readonly string[] | undefined,
  { limit, after }: PageRequest,
): Promise<EntityNoteRow[]> {
  return queryRows<EntityNoteRow>(tx)`
      select id, entity, entity_type as "entityType", note, key_id as "keyId", actor, updated_at as "updatedAt" from entity_notes
      where organization_id = ${orgId} ${entities === undefined ? sql`` : sql`and md5(lower(entity)) in (select md5(lower(v)) from unnest(${entities}::text[]) v)`}
        ${after ? sql`and (updated_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by updated_at desc, id desc limit ${limit + 1}`;
}

/** Returns up to `limit` notes on the entity, and on other values that its rows contain. The entity's own come first. */
export function findNotes(
  tx: Tx,
  orgId: OrgId,
  { entity, entityType, values }: { entity: string; entityType: string; values: string[] },
  limit: number,
): Promise<Pick<EntityNoteRow, 'id' | 'entity' | 'note'>[]> {
  return queryRows<Pick<EntityNoteRow, 'id' | 'entity' | 'note'>>(tx)`
      select e.id, e.entity, e.note from entity_notes e
      where e.organization_id = ${orgId} and md5(lower(e.entity)) in (select md5(lower(v)) from unnest(${[entity, ...values]}::text[]) v)
        and (e.entity_type in ('', ${entityType}) or lower(e.entity) <> lower(${entity}))
      order by lower(e.entity) = lower(${entity}) desc, e.entity, e.entity_type limit ${limit}`;
}

/** Replaces a value in notes, and deletes notes on and decisions about entities that contain it. Returns the number of notes. */
export async function eraseFromEntityNotes(
  tx: Tx,
  orgId: OrgId,
  value: string,
  author: Author,
): Promise<{ notes: number }> {
  await lockNotes(tx, orgId);
  await deleteDecisionsWith(tx, orgId, value);
  // A note about an erased entity says something about a person who asked to be forgotten.
  const { numAffectedRows } = await sql`
    delete from entity_notes where organization_id = ${orgId} and strpos(entity, ${value}) > 0`.execute(tx);
  const replaced = await replaceValue(tx, { orgId, table: 'entity_notes', columns: ['note'], author }, value);
  return { notes: Number(numAffectedRows ?? 0) + replaced };
}
