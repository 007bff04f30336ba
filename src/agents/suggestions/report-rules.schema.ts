import { z } from 'zod';
import { ruleTypes } from '../../feed/model/report-rules.ts';

export const ItemRules = z
  .object({
    id: z.string(),
    version: z.int(),
    rules: z.array(
      z.object({
        type: z.enum(ruleTypes).describe('A rule that Snort and Suricata both read is `snort`.'),
        name: z.string().describe('The name, title or message of the rule.'),
        text: z.string(),
        charSpan: z
          .object({ start: z.int(), end: z.int() })
          .describe("Where it stands in the item's text, in UTF-16 code units. `end` is exclusive."),
        problem: z.string().optional().describe('Why no detection can be made of a Sigma rule for your logs.'),
      }),
    ),
  })
  .meta({ id: 'ItemRules' });
export type ItemRules = z.infer<typeof ItemRules>;
