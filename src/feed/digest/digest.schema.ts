import { z } from 'zod';
import { adviceActions, severities, tlps } from '../model/vocabulary.ts';
import { Instant, RelevanceReason } from '../model/overrides.schema.ts';
import { lastSlot, nextSlot, parseCron } from '../../platform/lib/time/cron.ts';

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

const dayMs = 86_400_000;

/** An ISO 8601 week in a time zone, from Monday at midnight to the next (exclusive). */
export type Week = { id: string; timeZone: string; from: Date; to: Date };

/** Returns the week of a moment. */
export function weekAt(at: Date, timeZone: string): Week {
  const mondays = parseCron('0 0 * * 1', timeZone);
  const from = lastSlot(mondays, at)!;
  return { id: weekIdOf(from, timeZone), timeZone, from, to: nextSlot(mondays, from)! };
}

export const weekBefore = ({ from, timeZone }: Week): Week => weekAt(new Date(from.getTime() - dayMs), timeZone);

/** Returns a week by its id, such as `2026-W48`, or undefined if the year has no such week. */
export function findWeek(id: string, timeZone: string): Week | undefined {
  const [year, number] = id.split('-W').map(Number) as [number, number];
  const wednesday = firstMonday(year) + (number - 1) * 7 + 2;
  const week = weekAt(new Date(wednesday * dayMs), timeZone);
  return week.id === id ? week : undefined;
}

/** Returns the Monday of the first week of a year, in days since 1970-01-01. The week is that of January 4. */
function firstMonday(year: number): number {
  const january4 = Date.UTC(year, 0, 4) / dayMs;
  return january4 - ((january4 + 3) % 7);
}

/** Returns the id of the week that begins at a local Monday. Its year is that of its Thursday. */
function weekIdOf(from: Date, timeZone: string): string {
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(from);
  const monday = Date.parse(date) / dayMs;
  const year = new Date((monday + 3) * dayMs).getUTCFullYear();
  return `${year}-W${String((monday - firstMonday(year)) / 7 + 1).padStart(2, '0')}`;
}
