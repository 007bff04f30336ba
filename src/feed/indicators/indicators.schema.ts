import { z } from 'zod';
import { text } from '../../platform/lib/text/bounded-text.ts';
import { indicatorStatuses, itemStatuses } from '../model/vocabulary.ts';

const Value = text({ min: 1, max: 2_000 }, z.string().trim());

export const IndicatorQuery = z.object({ value: Value.describe('In any writing: defanged, upper case.') });
export const LookUpIndicators = z.strictObject({ values: z.array(Value).min(1).max(100) });
export type LookUpIndicators = z.infer<typeof LookUpIndicators>;

const Instant = z.string().describe('RFC 3339, UTC.');

/** What the items say of one value. */
export const IndicatorLookup = z
  .object({
    value: z.string().describe('As it was asked for.'),
    normalizedValue: z.string().optional().describe('Canonical; left out where the value has no form that is known.'),
    type: z.string().optional(),
    status: z.enum([...indicatorStatuses, 'unknown']).describe('`unknown`: no item names it.'),
    why: z.string().describe('What the status follows from.'),
    total: z.int().describe('How many items name it.'),
    items: z
      .array(
        z.object({
          itemId: z.string(),
          title: z.string(),
          publisher: z.string(),
          itemStatus: z.enum(itemStatuses),
          type: z.string(),
          value: z.string().describe('As printed there.'),
          status: z.enum(indicatorStatuses),
          why: z.string(),
          confidence: z.number(),
          firstSeen: Instant.optional(),
          lastSeen: Instant.optional(),
          addedToFeedAt: Instant,
        }),
      )
      .describe(
        'What the newest say, the newest first, at most fifty; ten each where several values were asked for. `status` follows from all.',
      ),
  })
  .meta({ id: 'IndicatorLookup' });
export type IndicatorLookup = z.infer<typeof IndicatorLookup>;

export const IndicatorLookups = z.object({ indicators: z.array(IndicatorLookup) });
export type IndicatorLookups = z.infer<typeof IndicatorLookups>;
