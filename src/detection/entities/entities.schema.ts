import { z } from 'zod';
import { entityTypes } from './entity-names.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { timeMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');
const name = boundedString({ min: 1, max: 400 });

export const EntityPath = z.object({
  type: z.enum(entityTypes),
  name: name.describe('Any name of the entity: `tomas.rehn`, `HALDEN\\tomas.rehn`.'),
});
export type EntityPath = z.infer<typeof EntityPath>;

export const AliasInput = z.strictObject({
  alias: name.describe('A name of something that is the same as the entity. Its own other names come with it.'),
  aliasType: z.enum(entityTypes).optional().describe('Type of the alias. Absent: that of the entity.'),
  reason: boundedString({ min: 1, max: 500 }).optional(),
});
export type AliasInput = z.infer<typeof AliasInput>;

export const AliasPath = EntityPath.extend({ alias: name });
export const AliasQuery = z.object({
  aliasType: z.enum(entityTypes).optional().describe('Type of the alias. Absent: that of the entity.'),
});
export type AliasQuery = z.infer<typeof AliasQuery>;

const entity = {
  type: z.enum(entityTypes),
  name: z.string().describe('The canonical name.'),
  key: z.string().describe('The same for every name of the entity. Changes when people join or separate names.'),
  isShared: z.boolean().describe('The name is one that different things have, such as `root` or `127.0.0.1`.'),
  aliases: z
    .array(
      z.object({
        type: z.enum(entityTypes),
        name: z.string(),
        why: z.string().describe('Why it is a name of the entity: a rule, a list, a log or a person.'),
        canSeparate: z.boolean().describe('False for the name of the entity itself, in any case and notation.'),
        hits: z.number().int().describe('Hits that have this name as their entity.'),
        firstSeenAt: time.nullable(),
        lastSeenAt: time.nullable(),
      }),
    )
    .describe('The names that hits, people and lists know, at most 1,000 of hits.'),
};

export const EntityAliases = z.object(entity).meta({ id: 'EntityAliases' });
export type EntityAliases = z.infer<typeof EntityAliases>;

const notesPerRequestMax = 1_000;

const notedEntity = boundedString({ min: 1, max: 1_000 });
const entityType = boundedString({ max: 100 });

export const EntityNotesInput = z.strictObject({
  notes: z
    .array(
      z.strictObject({
        entity: notedEntity.describe('Name of a host, user, address or other entity, in any case.'),
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
  entity: notedEntity.optional().describe('Notes on this entity, under any of its names.'),
});
export type EntityNotesFilter = z.infer<typeof EntityNotesFilter>;

const EntityNote = z
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
