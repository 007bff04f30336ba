import { z } from 'zod';
import { indicatorStatuses, itemStatuses, severities } from '../../feed/vocabulary.ts';
import { uuidPattern } from '../../lib/org-id.ts';

const Reason = z
  .string()
  .refine((text) => text.trim() !== '' && [...text].length <= 1_000, 'must have 1 to 1000 characters')
  .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'must be text without U+0000 and lone surrogates')
  .meta({ minLength: 1, maxLength: 1_000 });

export const MergeItem = z.strictObject({
  into: z.string().regex(uuidPattern, 'must be a UUID').describe('The item whose story it tells.'),
});
export const RetractItem = z.strictObject({ reason: Reason.optional() });

const text = (max: number) =>
  z
    .string()
    .refine((given) => given.trim() !== '' && [...given].length <= max, `must have 1 to ${max} characters`)
    .refine(
      (given) => !given.includes('\u0000') && given.isWellFormed(),
      'must be text without U+0000 and lone surrogates',
    )
    .transform((given) => given.normalize('NFC').trim())
    .meta({ minLength: 1, maxLength: max });

const tagsMax = 50;
const indicatorsMax = 1_000;

/** What is left out stays as it is; null takes it back. */
export const OverrideItem = z.strictObject({
  relevance: z
    .strictObject({ verdict: z.enum(['relevant', 'irrelevant']), reason: text(1_000).optional() })
    .nullable()
    .optional(),
  severity: z.enum(severities).nullable().optional(),
  status: z.enum(itemStatuses).nullable().optional(),
  indicators: z
    .array(
      z.strictObject({ type: z.string().max(50), value: z.string().max(10_000), status: z.enum(indicatorStatuses) }),
    )
    .min(1)
    .max(indicatorsMax)
    .nullable()
    .optional()
    .describe('Indicators of the item, in any writing, with the status that they have for the organization.'),
  tags: z.array(text(100)).min(1).max(tagsMax).nullable().optional(),
  note: text(4_000).nullable().optional(),
});
export type OverrideItem = z.infer<typeof OverrideItem>;
