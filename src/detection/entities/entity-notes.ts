import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError, staleError, type RecordChange } from '../../platform/lib/errors.ts';
import { readPageRequest, toPage } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { EntityNoteList, EntityNotesFilter, EntityNotesInput, EntityNotesStored } from './entities.schema.ts';
import { listSpellings } from './resolve-entities.ts';
import { countNotes, deleteNotes, findNotesOn, listNotes, lockNotes, upsertNotes } from './entities.store.ts';

const notesMax = 100_000;

/** Returns a page of the notes on entities, or on one under any of its names, last changed first. */
export async function getEntityNotes(
  { db }: { db: Db },
  { orgId }: Caller,
  filter: EntityNotesFilter,
): Promise<EntityNoteList> {
  const request = readPageRequest(filter);
  const { entity } = filter;
  const rows = await inOrg(db, orgId, async (tx) => {
    const names = entity && [entity, ...(await listSpellings(tx, orgId, { type: null, value: entity }))];
    return listNotes(tx, orgId, names || undefined, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ updatedAt, id }) => ({ at: updatedAt, id }));
  return {
    notes: page.map(({ entity, entityType, note, keyId, actor, updatedAt }) => ({
      entity,
      entityType,
      note,
      keyId,
      actor,
      updatedAt: updatedAt.toISOString(),
      revision: updatedAt.getTime(),
    })),
    nextCursor,
  };
}

/**
 * Stores and removes notes on entities. Throws 400 if two notes are on the same entity, and 409 above 100,000 notes or if a note has another
 * revision than `expectedRevision`.
 */
export function putEntityNotes(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  { notes }: EntityNotesInput,
): Promise<EntityNotesStored> {
  const seen = new Set<string>();
  for (const [index, note] of notes.entries()) {
    const key = keyOf(note);
    if (seen.has(key))
      throw fieldError(`/notes/${index}/entity`, 'duplicate', 'The request has another note on this entity.');
    seen.add(key);
  }
  return inOrg(db, caller.orgId, async (tx) => {
    await lockNotes(tx, caller.orgId);
    await checkNoteRevisions(tx, caller.orgId, notes);
    const kept = notes.flatMap(({ note, entity, entityType }) => (note === null ? [] : [{ entity, entityType, note }]));
    await upsertNotes(tx, caller.orgId, kept, { author: caller, now: clock() });
    const removed = await deleteNotes(
      tx,
      caller.orgId,
      notes.filter(({ note }) => note === null),
    );
    const total = await countNotes(tx, caller.orgId);
    if (total > notesMax) throw appError('conflict', `An organization can have at most ${notesMax} entity notes.`);
    const result = { stored: kept.length, removed, total };
    await insertAudit(tx, caller, {
      action: 'entity_notes.changed',
      resourceType: 'entity_notes',
      resourceId: caller.orgId,
      before: null,
      after: result,
    });
    return result;
  });
}

type NoteChange = EntityNotesInput['notes'][number];
const keyOf = ({ entity, entityType }: { entity: string; entityType: string }): string =>
  JSON.stringify([entity.toLowerCase(), entityType]);

/** Throws 409 with the present notes if one has another revision than expected. */
async function checkNoteRevisions(tx: Tx, orgId: OrgId, notes: readonly NoteChange[]): Promise<void> {
  const guarded = notes.filter(({ expectedRevision }) => expectedRevision !== undefined);
  if (guarded.length === 0) return;
  const rows = new Map((await findNotesOn(tx, orgId, guarded)).map((row) => [keyOf(row), row]));
  const stale = guarded.filter((note) => (rows.get(keyOf(note))?.updatedAt.getTime() ?? 0) !== note.expectedRevision);
  const [first] = stale;
  if (!first) return;
  const changes = stale.map((note): RecordChange => {
    const row = rows.get(keyOf(note));
    return {
      at: row?.updatedAt.toISOString() ?? null,
      keyId: row?.keyId ?? null,
      actor: row?.actor ?? null,
      action: row ? 'entity_note.changed' : 'entity_note.removed',
      subject: note.entity,
      fields: [{ field: 'note', before: null, after: row?.note ?? null }],
    };
  });
  const current = rows.get(keyOf(first))?.updatedAt.getTime() ?? 0;
  const detail = `${stale.length} notes changed since the revision that the request expects. \`stale\` lists them, and \`current\` is the revision of the first.`;
  throw staleError(`/notes/${notes.indexOf(first)}/expectedRevision`, detail, { current, changes });
}
