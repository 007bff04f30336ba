import { z } from 'zod';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { timeMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';

export const notesPerRequestMax = 1_000;

const entity = boundedString({ min: 1, max: 1_000 });
const entityType = boundedString({ max: 100 });

export const EntityNotesInput = z.strictObject({
  notes: z
    .array(
      z.strictObject({
        entity: entity.describe('Name of a host, user, address or other entity, in any case.'),
        entityType: entityType.default('').describe('Type of the entity. Empty: of any type.'),
        note: boundedString({ min: 1, max: 2_000 })
          .nullable()
          .describe('What is known of the entity. Null removes the note.'),
        expectedRevision: revisionInput(
          timeMax,
          'The `revision` of the note that the change is based on, and 0 if there was none. If it is not the current one, the answer is 409 and no note changes. Absent: replaces any note.',
        ),
      }),
    )
    .min(1)
    .max(notesPerRequestMax),
});
export type EntityNotesInput = z.infer<typeof EntityNotesInput>;

export const EntityNotesFilter = PageQuery.extend({
  entity: entity.optional().describe('Notes on this entity, under any of its names.'),
});
export type EntityNotesFilter = z.infer<typeof EntityNotesFilter>;

export const EntityNote = z
  .object({
    entity: z.string(),
    entityType: z.string(),
    note: z.string(),
    keyId: z.string().nullable().describe('API key that wrote the note.'),
    actor: ActorField,
    updatedAt: z.string(),
    revision: z.number().int().describe('Increases with every change of the note.'),
  })
  .meta({ id: 'EntityNote' });

export const EntityNoteList = z.object({ notes: z.array(EntityNote), nextCursor: z.string().nullable() });
export type EntityNoteList = z.infer<typeof EntityNoteList>;

export const EntityNotesStored = z.object({
  stored: z.number().int(),
  removed: z.number().int(),
  total: z.number().int().describe('Notes of the organization.'),
});
export type EntityNotesStored = z.infer<typeof EntityNotesStored>;
