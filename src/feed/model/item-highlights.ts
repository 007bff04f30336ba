import { z } from 'zod';

export const ItemHighlight = z
  .object({
    field: z
      .enum(['title', 'summary', 'text', 'name', 'indicator'])
      .describe(
        '`text` is the text that the item was made from, `name` a name or alias of an actor, malware or a product, `indicator` an indicator of the item, refanged.',
      ),
    segments: z
      .array(z.object({ text: z.string(), isMatch: z.boolean() }))
      .describe('The segments in order are the whole title or an excerpt. Plain text, never markup.'),
  })
  .meta({ id: 'ItemHighlight' });
export type ItemHighlight = z.infer<typeof ItemHighlight>;

/** The highlights of a page by item ID. */
export const ItemHighlights = z.record(z.string(), z.array(ItemHighlight));
export type ItemHighlights = z.infer<typeof ItemHighlights>;
