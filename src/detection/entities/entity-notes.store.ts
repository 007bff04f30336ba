import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { Author } from '../../platform/http/caller.ts';
import { deleteDecisionsWith } from './entities.store.ts';

type NewNote = { entity: string; entityType: string; note: string };
export type EntityNoteRow = NewNote & { id: string; keyId: string | null; actor: string | null; updatedAt: Date };

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
    where e.organization_id = ${orgId} and md5(lower(e.entity)) = md5(lower(n.entity)) and e.entity_type = n.entity_type`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}

export async function countNotes(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(
    tx,
  )`select count(*) as n from entity_notes where organization_id = ${orgId}`;
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
