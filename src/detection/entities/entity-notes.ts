import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { readPageRequest, toPage } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { EntityNoteList, EntityNotesFilter, EntityNotesInput, EntityNotesStored } from './entity-notes.schema.ts';
import { countNotes, deleteNotes, listNotes, upsertNotes } from './entity-notes.store.ts';

const notesMax = 100_000;

/** Returns a page of the notes on entities, last changed first. */
export async function getEntityNotes(
  { db }: { db: Db },
  { orgId }: Caller,
  filter: EntityNotesFilter,
): Promise<EntityNoteList> {
  const request = readPageRequest(filter);
  const rows = await inOrg(db, orgId, (tx) => listNotes(tx, orgId, filter.entity, request));
  const { page, nextCursor } = toPage(rows, request.limit, ({ updatedAt, id }) => ({ at: updatedAt, id }));
  return {
    notes: page.map(({ entity, entityType, note, keyId, actor, updatedAt }) => ({
      entity,
      entityType,
      note,
      keyId,
      actor,
      updatedAt: updatedAt.toISOString(),
    })),
    nextCursor,
  };
}

/** Stores and removes notes on entities. Throws 400 if two notes are on the same entity, and 409 above 100,000 notes. */
export function putEntityNotes(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  { notes }: EntityNotesInput,
): Promise<EntityNotesStored> {
  const seen = new Set<string>();
  for (const [index, { entity, entityType }] of notes.entries()) {
    const key = JSON.stringify([entity.toLowerCase(), entityType]);
    if (seen.has(key))
      throw fieldError(`/notes/${index}/entity`, 'duplicate', 'The request has another note on this entity.');
    seen.add(key);
  }
  return inOrg(db, caller.orgId, async (tx) => {
    const kept = notes.flatMap(({ note, ...entity }) => (note === null ? [] : [{ ...entity, note }]));
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
