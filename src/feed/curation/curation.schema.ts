import { z } from 'zod';
import { indicatorStatuses, itemStatuses, severities } from '../model/vocabulary.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';

/** It says something. */
const said = (max: number) => text({ min: 1, max }).refine((given) => given.trim() !== '', 'must not be blank');
const tidy = (max: number) => said(max).transform((given) => given.normalize('NFC').trim());

export const MergeItem = z.strictObject({
  into: z.string().regex(uuidPattern, 'must be a UUID').describe('The item whose story it tells.'),
});
export const RetractItem = z.strictObject({ reason: said(1_000).optional() });

const tagsMax = 50;
const indicatorsMax = 1_000;

/** What is left out stays as it is; null takes it back. */
export const OverrideItem = z.strictObject({
  relevance: z
    .strictObject({ verdict: z.enum(['relevant', 'irrelevant']), reason: tidy(1_000).optional() })
    .nullable()
    .optional(),
  severity: z.enum(severities).nullable().optional(),
  status: z.enum(itemStatuses).nullable().optional(),
  indicators: z
    .array(z.strictObject({ type: text({ max: 50 }), value: text({ max: 10_000 }), status: z.enum(indicatorStatuses) }))
    .min(1)
    .max(indicatorsMax)
    .nullable()
    .optional()
    .describe('Indicators of the item, in any writing, with the status that they have for the organization.'),
  tags: z.array(tidy(100)).min(1).max(tagsMax).nullable().optional(),
  note: tidy(4_000).nullable().optional(),
});
export type OverrideItem = z.infer<typeof OverrideItem>;
