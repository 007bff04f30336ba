import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { entityTypes } from './entity-names.ts';

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
        why: z.string().describe('Why it is a name of the entity: a rule, a list or a person.'),
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
