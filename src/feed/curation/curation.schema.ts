import { z } from 'zod';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { indicatorStatuses, itemStatuses, severities } from '../model/vocabulary.ts';

const nonBlankText = (max: number) =>
  boundedString({ min: 1, max }).refine((value) => value.trim() !== '', 'must not be blank');
const trimmedText = (max: number) => nonBlankText(max).transform((value) => value.normalize('NFC').trim());

export const MergeItem = z.strictObject({
  into: z.string().regex(uuidPattern, 'must be a UUID').describe('The item whose story this item tells.'),
});
export const RetractItem = z.strictObject({ reason: nonBlankText(1_000).optional() });

const tagsMax = 50;
const indicatorsMax = 1_000;

/** An omitted field stays the same; null removes it. */
export const OverrideItem = z.strictObject({
  relevance: z
    .strictObject({ verdict: z.enum(['relevant', 'irrelevant']), reason: trimmedText(1_000).optional() })
    .nullable()
    .optional(),
  severity: z.enum(severities).nullable().optional(),
  status: z.enum(itemStatuses).nullable().optional(),
  indicators: z
    .array(
      z.strictObject({
        type: boundedString({ max: 50 }),
        value: boundedString({ max: 10_000 }),
        status: z.enum(indicatorStatuses),
      }),
    )
    .min(1)
    .max(indicatorsMax)
    .nullable()
    .optional()
    .describe(
      'Indicators of the item and its other values, such as networks (`cidr`), in any notation, with their status for the organization.',
    ),
  tags: z.array(trimmedText(100)).min(1).max(tagsMax).nullable().optional(),
  note: trimmedText(4_000).nullable().optional(),
});
export type OverrideItem = z.infer<typeof OverrideItem>;
