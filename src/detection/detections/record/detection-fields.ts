import { z } from 'zod';
import { isLonger, text } from '../../../platform/lib/text/bounded-text.ts';

const tagMax = 100;

/** Lower-cased, not trimmed, order kept, repeats dropped. A letter may grow when lower-cased, so both lengths count. */
export const Tags = z
  .array(
    text({ min: 1, max: tagMax }).refine(
      (tag) => !isLonger(tag.toLowerCase(), tagMax),
      `must have at most ${tagMax} characters in lower case`,
    ),
  )
  .transform((tags) => [...new Set(tags.map((tag) => tag.toLowerCase()))]);

export const Input = z.strictObject({
  type: z.enum(['text', 'number', 'boolean', 'date']),
  name: text({ min: 1, max: 255 }),
  description: text({ max: 1000 }).default(''),
  required: z.boolean().default(false),
});

export const ContextDoc = z.strictObject({
  provider: text({ min: 1, max: 100 }).describe('The product that hosts the document; any name.'),
  id: text({ min: 1, max: 1000 }),
  name: text({ min: 1, max: 1000 }),
  mimeType: text({ min: 1, max: 255 }),
});

const schemaDepthMax = 50;

/** A JSON-Schema-like object; keywords beginning with `x-` are for display and never reach a model. */
export const OutputSchema = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  enum: z.array(z.string()).optional(),
  additionalProperties: z.boolean().optional(),
});
export type OutputSchema = z.infer<typeof OutputSchema>;

export const OutputSchemaInput = OutputSchema.refine(
  (schema) => isShallow(schema),
  `must not nest deeper than ${schemaDepthMax} levels`,
);

/** Level by level, so that no depth can exhaust the stack. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > schemaDepthMax) return false;
    level = level.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []));
  }
  return true;
}
