import { z } from 'zod';
import { Instant } from '../../platform/lib/schema-parts.ts';

const Quote = z
  .object({
    text: z.string(),
    start: z.int(),
    end: z.int(),
    in: z.literal('title').optional().describe('Present if the passage is in the title and not in the text.'),
  })
  .describe('The passage that says so. Offsets in the stored text, in UTF-16 code units. `end` is exclusive.');

const ReaderClaim = z.object({
  field: z
    .string()
    .describe(
      '`name`, `technique`, `product`, `severity`, `role`, `family`, `summary`, `tldr`, `step` (of the attack path) or `advice`.',
    ),
  value: z.string().describe('The canonical name, the technique, the level, the value or the sentence.'),
  kind: z
    .string()
    .optional()
    .describe(
      'Kind of a name (`none`: something that only has the same name), role of a value, the family of a value, the vendor of a product, the deciding rule, the action of advice, or `not_done`.',
    ),
  quote: Quote,
  confidence: z.number(),
  decides: z.boolean().describe('Whether the item follows this claim. If not, the other reader contradicts it.'),
});

const Reader = z.object({
  reader: z.enum(['lexicon', 'model']),
  model: z.string().optional().describe('Provider and model.'),
  at: Instant.optional(),
  claims: z.array(ReaderClaim),
  dropped: z.record(z.string(), z.int()).describe('How many claims did not check out, by reason.'),
  unreadParts: z.int().describe('Parts of the text that were not read: it is too long, or no answer was usable.'),
  tokens: z.int().optional(),
  costUsd: z.number().optional(),
});

export const ItemReading = z
  .object({
    id: z.string(),
    state: z
      .enum(['none', 'waiting', 'done', 'failed', 'withheld'])
      .describe(
        'Of the model: `none` reads it, it is queued, has read it, failed (`problem`), or may not read it because of its marking.',
      ),
    problem: z.string().optional(),
    readers: z.array(Reader).describe('The lexicon first, then the model.'),
  })
  .meta({ id: 'ItemReading' });
export type ItemReading = z.infer<typeof ItemReading>;
export type ReaderClaim = z.infer<typeof ReaderClaim>;

export const FeedReader = z
  .strictObject({
    modelAlias: z
      .string()
      .max(64)
      .nullable()
      .describe(
        'The model alias that reads the private items of the organization. Null: none. Items that others see as well are read by the alias `reader`.',
      ),
  })
  .meta({ id: 'FeedReader' });
export type FeedReader = z.infer<typeof FeedReader>;
