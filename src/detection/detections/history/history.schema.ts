import { z } from 'zod';
import { integerMeta } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const Time = z.string().meta({ format: 'date-time' });
const Author = z
  .object({
    keyId: z.string().nullable(),
    name: z.string().nullable().describe('The person or key that signed in, otherwise the name of the API key.'),
  })
  .nullable()
  .describe('Who made the change, with an API key or signed in to the console. null: the service itself.');

export const PromptVersion = z
  .object({
    id: z.string(),
    version: z.int(),
    prompt: z.string(),
    description: z.string(),
    createdAt: Time,
    author: Author,
    active: z.boolean(),
  })
  .meta({ id: 'PromptVersion' });
export type PromptVersion = z.infer<typeof PromptVersion>;

export const PromptList = z.object({ prompts: z.array(PromptVersion), nextCursor: z.string().nullable() });
export type PromptList = z.infer<typeof PromptList>;

export const NewPrompt = z.strictObject({
  prompt: boundedString({ min: 1 }),
  description: boundedString({ max: 1000 }).optional().describe('What changed in this version.'),
});
export type NewPrompt = z.infer<typeof NewPrompt>;

const LineDiff = z.object({
  added: z.int(),
  removed: z.int(),
  lines: z.array(z.object({ op: z.enum(['same', 'added', 'removed']), text: z.string() })),
});
export type LineDiff = z.infer<typeof LineDiff>;

export const PromptDiff = LineDiff.extend({ from: z.int(), to: z.int() });
export type PromptDiff = z.infer<typeof PromptDiff>;

const RevisionSummary = z.object({
  revision: z.int(),
  createdAt: Time,
  author: Author,
  active: z.boolean(),
  changed: z.array(z.string()).describe('Fields that differ from the previous revision. Empty for the first revision.'),
});

export const RevisionList = z.object({ revisions: z.array(RevisionSummary), nextCursor: z.string().nullable() });
export type RevisionList = z.infer<typeof RevisionList>;

export const Revision = RevisionSummary.extend({
  definition: z.record(z.string(), z.unknown()).describe('All fields of the detection that are part of a revision.'),
});
export type Revision = z.infer<typeof Revision>;

export const RevisionDiff = z.object({
  from: z.int(),
  to: z.int(),
  changes: z.array(
    z.object({
      field: z.string(),
      from: z.unknown(),
      to: z.unknown(),
      diff: LineDiff.describe('Line-by-line diff of texts as they are, and of other values as YAML.'),
    }),
  ),
});
export type RevisionDiff = z.infer<typeof RevisionDiff>;

const number = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
  .meta(integerMeta(1, 999_999_999))
  .transform(Number);
const id = z.guid('must be a UUID').toLowerCase();

export const PromptPath = z.object({ id, version: number });
export const RevisionPath = z.object({ id, revision: number });
export const DiffQuery = z.object({ from: number, to: number });
export type DiffQuery = z.infer<typeof DiffQuery>;
