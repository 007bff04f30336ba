import { z } from 'zod';
import { CostUsd, integerMeta } from '../../../platform/lib/schema-parts.ts';
import { severities } from '../../analysis/candidate.ts';
import { detectionCategories } from '../../analysis/registry.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { DetectionFilter } from '../record/detection-input.schema.ts';

const time = z.string().meta({ format: 'date-time' });
const day = z.string().meta({ format: 'date' });

/** States of a detection, the most urgent first. `detection-health.sql.ts` decides them. */
export const detectionHealths = ['stopped', 'failing', 'paused', 'gap', 'warning', 'healthy', 'disabled'] as const;
export type DetectionHealth = (typeof detectionHealths)[number];

export const summarySorts = [
  'createdAt',
  'name',
  'lastRunAt',
  'nextRunAt',
  'newHits30d',
  'openHits',
  'precision',
] as const;
export type SummarySort = (typeof summarySorts)[number];
const sortValues = summarySorts.flatMap((sort) => [sort, `-${sort}` as const]);

export const SummaryQuery = PageQuery.extend({
  cursor: boundedString({ max: 3000 }).optional(),
  ...DetectionFilter.pick({ category: true, tag: true, enabled: true, siemType: true, q: true }).shape,
  health: z.enum(detectionHealths).optional(),
  sort: z
    .enum(sortValues)
    .default('-createdAt')
    .describe('A minus sorts in descending order. Detections without the value come last in descending order.'),
});
export type SummaryQuery = z.infer<typeof SummaryQuery>;

const Health = z
  .enum(detectionHealths)
  .describe(
    '`stopped`: the service disabled it. `failing`: windows wait because runs failed. `paused`: its connection failed. `gap`: time was not examined. `warning`: its query has warnings or its connection does not exist. `disabled`: a person disabled it or it has no schedule.',
  )
  .meta({ id: 'DetectionHealth' });

export const DetectionSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    category: z.enum(detectionCategories).nullable(),
    tags: z.array(z.string()),
    siemType: z.string().nullable(),
    enabled: z.boolean(),
    continuous: z.boolean().describe('Whether its events are to be matched when they arrive, besides its schedule.'),
    disabledReason: z.string().nullable(),
    health: Health,
    severity: z.enum(severities).nullable().describe('Highest severity of its open hits. Null without one.'),
    openHits: z.int(),
    newHits30d: z.int().describe('Hits raised in the last 30 UTC days, today included.'),
    hitsByDay: z.array(z.int()).describe('Hits raised on each of these days, oldest first. 30 numbers.'),
    runs30d: z.int(),
    reviewed: z.int().describe('Hits that people judged.'),
    precision: z.number().nullable().describe('Share of true positives of the judged hits, 0 to 1. Null without one.'),
    lastRunAt: time.nullable(),
    nextRunAt: time.nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'DetectionSummary' });
export type DetectionSummary = z.infer<typeof DetectionSummary>;

export const SummaryList = z.object({
  from: day.describe('First day of `hitsByDay`.'),
  total: z.int().describe('Detections that match the filters.'),
  detections: z.array(DetectionSummary),
  nextCursor: z.string().nullable(),
});
export type SummaryList = z.infer<typeof SummaryList>;

export const DaysQuery = z.object({
  days: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 180')
    .refine((text) => Number(text) >= 1 && Number(text) <= 180, 'must be a whole number from 1 to 180')
    .meta(integerMeta(1, 180))
    .optional()
    .describe('UTC days up to today, at most 180. Default: 30.'),
});

export const DetectionDays = z.object({
  days: z
    .array(
      z.object({
        day,
        runs: z.int().describe('Finished runs.'),
        triggered: z.int().describe('Runs that raised a hit or saw one again.'),
        hits: z.int().describe('Hits raised.'),
        avgScore: z.number().nullable().describe('Average score of the runs. Null without one.'),
        calls: z.int().describe('Calls of models.'),
        tokens: z.int(),
        costUsd: CostUsd,
      }),
    )
    .describe('Every day, oldest first.'),
  aliases: z
    .array(z.object({ alias: z.string(), calls: z.int(), tokens: z.int(), costUsd: CostUsd }))
    .describe(
      'What was spent on these days by alias, the most tokens first, with previews of changes, replays and tests.',
    ),
});
export type DetectionDays = z.infer<typeof DetectionDays>;
