import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { Instant } from '../model/overrides.schema.ts';
import { indicatorStatuses, itemStatuses, lookupMatches } from '../model/vocabulary.ts';

const Value = boundedString({ min: 1, max: 2_000 }, z.string().trim());

export const IndicatorQuery = z.object({
  value: Value.describe(
    'An indicator in any notation: defanged, in upper case, with a port, in quotation marks or brackets, with a label such as `sha256:`, or several as in `domain|ip`. An address, a network, a domain, a URL, a hash, or any other value that items contain.',
  ),
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
  malware: z.array(z.string()).describe('The malware and tools to which the item assigns the value.'),
  actor: z.array(z.string()).describe('The actors to which the item assigns the value.'),
  correction: z.string().optional().describe('How the indicator differs from what the source states.'),
  role: z.string().optional().describe('What the value is in the report, such as `c2`, `victim` or `sinkhole`.'),
  firstSeen: Instant.optional(),
  lastSeen: Instant.optional(),
  addedToFeedAt: Instant,
});

const LookupStatus = z.enum([...indicatorStatuses, 'unknown']);

/** A value with the status that follows from all items. */
const ValueStatus = z.object({
  value: z.string(),
  type: z.string().optional(),
  status: LookupStatus,
  total: z.int().describe('The number of items that contain the value.'),
});

const Covering = IndicatorStatement.extend({
  match: z
    .enum(lookupMatches)
    .describe(
      'Why the indicator covers the value: `network` of an address, `url_host` or `mail_host` of a URL or mail address, or `parent_domain` of a host.',
    ),
});

/** The items that contain a value, and its status. */
export const IndicatorLookup = z
  .object({
    value: z.string().describe('The requested value.'),
    normalizedValue: z.string().optional().describe('The canonical form. Absent if the value has no known form.'),
    type: z.string().optional(),
    correction: z
      .string()
      .optional()
      .describe('What was changed to read the value, such as `quotation marks removed, port 8080 removed`.'),
    status: LookupStatus.describe('`unknown` if no item contains the value, and no active indicator covers it.'),
    why: z.string().describe('The reason for the status.'),
    match: z
      .enum(lookupMatches)
      .optional()
      .describe(
        '`exact` if the status is that of the value itself, otherwise why it is that of an indicator in `covering`. Absent if unknown.',
      ),
    total: z.int().describe('The number of items that contain the value itself.'),
    items: z
      .array(IndicatorStatement)
      .describe(
        'The newest items first, at most 50, or 10 per value in a lookup of several. `status` follows from all items.',
      ),
    covering: z
      .array(Covering)
      .describe(
        'The indicators of items that cover the value, narrowest first, at most as many as `items`: networks of an address, the host of a URL or mail address, and domains above a host. An active one makes a value active that is not active itself, unless it is a false positive.',
      ),
    urls: z
      .array(IndicatorStatement)
      .describe(
        'The URLs of this host that items contain, newest items first, at most as many as `items`. They do not change `status`: the host may be a hacked site.',
      ),
    inside: z
      .object({
        total: z.int().describe('The number of distinct addresses and networks, at most 1,000.'),
        hasMore: z.boolean().describe('Whether there are more than 1,000.'),
        values: z.array(ValueStatus).describe('The first ones in numeric order, at most as many as `items`.'),
      })
      .optional()
      .describe('For a network: the addresses and networks inside it that items contain.'),
    parts: z
      .array(ValueStatus)
      .optional()
      .describe(
        'For a composite value such as `domain|ip`: its parts. The other fields are those of the part with the strongest status: active, then expired, revoked and false positive.',
      ),
  })
  .meta({ id: 'IndicatorLookup' });
export type IndicatorLookup = z.infer<typeof IndicatorLookup>;

export const IndicatorLookups = z.object({ indicators: z.array(IndicatorLookup) });
export type IndicatorLookups = z.infer<typeof IndicatorLookups>;
