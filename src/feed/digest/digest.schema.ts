import { z } from 'zod';
import { adviceActions, severities, tlps } from '../model/vocabulary.ts';
import { Instant, RelevanceReason } from '../model/overrides.schema.ts';

export const weekPattern = /^(?:current|last|\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3]))$/;

const ItemRef = z.object({
  itemId: z.string(),
  title: z.string(),
  publisher: z.string(),
  severity: z.enum(severities),
});

const DigestStory = z.object({
  ...ItemRef.shape,
  itemId: z.string().describe('The most relevant of its items that were added in the week.'),
  publishers: z.array(z.string()).describe('Who reports the story, the most frequent first.'),
  reports: z.int(),
  score: z.number(),
  reasons: z.array(RelevanceReason.omit({ evidenceRef: true })).describe('Why it is relevant, at most 5.'),
  summary: z.string().optional(),
  advice: z
    .array(z.object({ action: z.enum(adviceActions), text: z.string() }))
    .describe('What the report itself advises, at most 3 sentences.'),
});

const total = z.int().describe('How many there are in all.');

export const Digest = z
  .object({
    week: z.string().describe('ISO 8601 week, such as `2026-W48`.'),
    previousWeek: z.string(),
    nextWeek: z.string(),
    timeZone: z.string(),
    from: Instant,
    to: Instant.describe('Exclusive. In the future for the current week.'),
    title: z.string(),
    summary: z.string(),
    tlp: z.enum(tlps).describe('The strictest marking of its items.'),
    stories: z.object({ total, list: z.array(DigestStory).describe('The most relevant first, at most 25.') }),
    exploited: z
      .array(ItemRef.extend({ cves: z.array(z.string()), products: z.array(z.string()) }))
      .describe('Items of the week about exploited vulnerabilities in products of the profile, at most 25.'),
    requirements: z
      .array(z.object({ name: z.string(), total, items: z.array(ItemRef).describe('At most 5.') }))
      .describe('The requirements of the profile that items of the week meet.'),
    changes: z
      .array(
        ItemRef.extend({
          status: z.enum(['corrected', 'retracted']),
          at: Instant,
          changed: z.array(z.string()),
          note: z.string().optional(),
        }),
      )
      .describe('Relevant items that were corrected or retracted in the week, at most 25.'),
    seen: z
      .array(ItemRef.extend({ value: z.string(), type: z.string(), datasets: z.array(z.string()), events: z.int() }))
      .describe('Indicators first seen in your logs in the week, at most 25.'),
  })
  .meta({ id: 'FeedDigest' });
export type Digest = z.infer<typeof Digest>;
