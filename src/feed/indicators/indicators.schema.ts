import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { Instant } from '../model/overrides.schema.ts';
import { indicatorStatuses, itemStatuses } from '../model/vocabulary.ts';

const Value = boundedString({ min: 1, max: 2_000 }, z.string().trim());

export const IndicatorQuery = z.object({
  value: Value.describe('An indicator in any notation. It may be defanged or in upper case.'),
});
export const LookUpIndicators = z.strictObject({ values: z.array(Value).min(1).max(100) });
export type LookUpIndicators = z.infer<typeof LookUpIndicators>;

const IndicatorStatement = z.object({
  itemId: z.string(),
  title: z.string(),
  publisher: z.string(),
  itemStatus: z.enum(itemStatuses),
  type: z.string(),
  value: z.string().describe('As printed in the item.'),
  status: z.enum(indicatorStatuses),
  why: z.string(),
  confidence: z.number(),
  firstSeen: Instant.optional(),
  lastSeen: Instant.optional(),
  addedToFeedAt: Instant,
});

/** The items that contain a value, and its status. */
export const IndicatorLookup = z
  .object({
    value: z.string().describe('The requested value.'),
    normalizedValue: z.string().optional().describe('The canonical form. Absent if the value has no known form.'),
    type: z.string().optional(),
    status: z.enum([...indicatorStatuses, 'unknown']).describe('`unknown` if no item contains the value.'),
    why: z.string().describe('The reason for the status.'),
    total: z.int().describe('The number of items that contain the value.'),
    items: z
      .array(IndicatorStatement)
      .describe(
        'The newest items first, at most 50, or 10 per value in a lookup of several. `status` follows from all items.',
      ),
    urls: z
      .array(IndicatorStatement)
      .describe(
        'The URLs of this host that items contain, newest items first, at most as many as `items`. They do not change `status`: the host may be a hacked site.',
      ),
  })
  .meta({ id: 'IndicatorLookup' });
export type IndicatorLookup = z.infer<typeof IndicatorLookup>;

export const IndicatorLookups = z.object({ indicators: z.array(IndicatorLookup) });
export type IndicatorLookups = z.infer<typeof IndicatorLookups>;
