import { z } from 'zod';
import { listFalsePositives } from '../../feed/indicators/indicators.store.ts';
import { listSourceRows } from '../../feed/sources/sources.store.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { PageQuery, readPageRequest, toPage } from '../../platform/lib/page-request.ts';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { measureSource, valuesMax } from './source-worth.store.ts';

const daysDefault = 90;
const dayMs = 86_400_000;

export const SourceWorthQuery = PageQuery.extend({
  days: z
    .string()
    .regex(/^([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
    .meta(integerMeta(1, 365))
    .optional()
    .describe(`The days before now that count. Default: ${daysDefault}.`),
});
export type SourceWorthQuery = z.infer<typeof SourceWorthQuery>;

const SourceWorth = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.string().meta({ format: 'date-time' }),
  items: z.int().describe('Items that the source added, at most the newest 2,000. All other figures count in these.'),
  reports: z.int().describe('Items with running text.'),
  ownReports: z.int().describe('Reports that no other source has, either.'),
  values: z
    .int()
    .describe('Different values, at most the newest 1,000: indicators, vulnerabilities, actors, malware and tools.'),
  isPartial: z.boolean().describe('Whether the source has more values than are compared.'),
  ownValues: z.int().describe('Values that no other source has.'),
  firstValues: z.int().describe('Values that other sources have as well, but later.'),
  confirmedValues: z.int().describe('Values that other sources have as well, earlier or later.'),
  falseValues: z.int().describe('Indicators that are false positives for the organization.'),
  seenValues: z.int().describe('Indicators that were seen in the logs of the organization.'),
  truePositives: z.int().describe('Hits with a value that was seen, and that people judged true positive.'),
  falsePositives: z.int().describe('Hits with a value that was seen, and that people judged false positive.'),
  addsNothing: z
    .boolean()
    .describe(
      'Whether the organization would miss nothing without the source: it has no report and no value of its own, none earlier than others, and none that was seen.',
    ),
});

export const SourceWorthList = z
  .object({ sources: z.array(SourceWorth), days: z.int(), nextCursor: z.string().nullable() })
  .meta({ id: 'SourceWorthList' });
type SourceWorthList = z.infer<typeof SourceWorthList>;

export type SourceWorthDeps = { db: Db; clock: Clock };

/** Returns a page of the sources that the organization sees, newest first, with what each brought in the last days that others did not. */
export async function listSourceWorth(
  { db, clock }: SourceWorthDeps,
  { orgId }: Caller,
  query: SourceWorthQuery,
): Promise<SourceWorthList> {
  const { limit, after } = readPageRequest(query);
  const days = Number(query.days ?? daysDefault);
  const since = new Date(clock().getTime() - days * dayMs);
  const rows = await inOrg(db, orgId, (tx) => listSourceRows(tx, limit, after));
  const { page, nextCursor } = toPage(rows, limit, (source) => ({ at: source.created_at, id: source.id }));
  const sources: SourceWorthList['sources'] = [];
  // In a transaction each, because many large sources take seconds.
  for (const { id, name, created_at } of page) {
    const counts = await inOrg(db, orgId, async (tx) => {
      const { indicators, ...measured } = await measureSource(tx, orgId, { sourceId: id, since });
      return { ...measured, falseValues: (await listFalsePositives(tx, indicators)).size };
    });
    const isMissed = [counts.ownReports, counts.ownValues, counts.firstValues, counts.seenValues].some((n) => n > 0);
    sources.push({
      id,
      name,
      createdAt: created_at.toISOString(),
      ...counts,
      isPartial: counts.values === valuesMax,
      confirmedValues: counts.values - counts.ownValues,
      addsNothing: !isMissed,
    });
  }
  return { sources, days, nextCursor };
}
