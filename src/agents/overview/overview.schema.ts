import { z } from 'zod';
import { CostUsd } from '../../platform/lib/schema-parts.ts';
import { Shortfall } from '../../detection/log-store/catalog/datasets.schema.ts';
import { severities } from '../../detection/analysis/candidate.ts';
import { QuotaState } from '../../platform/orgs/limits/limits.schema.ts';
import { detectionHealths } from '../../detection/detections/summaries/summaries.schema.ts';

const time = z.string().meta({ format: 'date-time' });
const needsScope = (scope: string): string => `Null if the key lacks the scope \`${scope}\`.`;

const OpenHits = z.object({
  severity: z.enum(severities),
  open: z.int(),
  newToday: z.int().describe('Open hits raised in the last 24 hours.'),
  newThisWeek: z.int().describe('Open hits raised in the 6 days before.'),
  older: z.int(),
  oldestAt: time,
});

const PausedPart = z.object({ id: z.string(), name: z.string(), kind: z.string(), message: z.string(), since: time });
const SourceProblem = z.object({
  id: z.string(),
  name: z.string(),
  failures: z.int().describe('Consecutive failed pulls.'),
  lastError: z.string().nullable(),
  lastSuccessAt: time.nullable(),
  silentSince: time.nullable(),
});

export const Overview = z
  .object({
    at: time,
    hits: z
      .object({
        open: z.int(),
        undecided: z.int().describe('Open hits whose judge could not decide, so that a person must.'),
        bySeverity: z.array(OpenHits).describe('Severities with open hits, most severe first.'),
      })
      .nullable()
      .describe(needsScope('hits:read')),
    detections: z.object({
      total: z.int(),
      byHealth: z.partialRecord(z.enum(detectionHealths), z.int()),
      attention: z
        .array(
          z.object({
            id: z.string(),
            name: z.string(),
            health: z.enum(detectionHealths),
            reason: z.string().nullable(),
          }),
        )
        .describe('At most 20 detections that are stopped, failing, paused or have a gap, most urgent first.'),
    }),
    gaps: z.object({
      open: z.int(),
      detections: z.int(),
      oldestFrom: time.nullable(),
      hours: z.number().describe('Length of all open gaps.'),
    }),
    runs: z.object({ queued: z.int(), running: z.int() }),
    lateMatchingSince: time
      .nullable()
      .describe(
        'Arrival of the first events that have waited more than a minute to be matched with continuous detections or indicators. Null: none have.',
      ),
    pausedConnections: z.array(PausedPart).describe('At most 20.'),
    pausedModels: z.array(PausedPart.omit({ name: true })).describe('`id` is the alias.'),
    datasetShortfalls: z
      .array(Shortfall.extend({ dataset: z.string() }))
      .describe('Datasets that receive fewer events than usual, at most 20.'),
    endingExceptions: z
      .array(
        z.object({
          id: z.string(),
          detectionId: z.string(),
          detection: z.string(),
          owner: z.string().nullable(),
          expiresAt: time,
          matches: z.int().describe('Findings that it hid.'),
        }),
      )
      .describe('Exceptions that end within a week, the first to end first, at most 20.'),
    failingDestinations: z.int().describe('Destinations that the service disabled or whose latest delivery failed.'),
    suggestions: z.object({ open: z.int(), newestAt: time.nullable() }),
    budgets: z
      .array(
        z.object({
          alias: z.string(),
          tokens: z.number(),
          tokensMax: z.number().nullable(),
          costUsd: CostUsd,
          costUsdMax: z.number().nullable(),
          share: z.number().describe('Used share of the budget that is closest to its limit. 1 or more: used up.'),
        }),
      )
      .describe('Use of each model alias in this UTC month against the budgets of the organization, closest first.'),
    quotas: z
      .array(QuotaState)
      .describe(
        'Quotas that the operator of the service set and of which at least 80 percent are used, closest first.',
      ),
    feed: z
      .object({
        items: z.int(),
        bySeverity: z.record(z.enum(severities), z.int()),
        newToday: z.int().describe('Items added in the last 24 hours.'),
        exposedThisWeek: z.int().describe('Items of which an indicator was first seen in the logs in the last 7 days.'),
        sources: z.int(),
        failingSources: z.array(SourceProblem).describe('At most 20.'),
        silentSources: z.array(SourceProblem).describe('At most 20.'),
      })
      .nullable()
      .describe(needsScope('feed:read')),
    days: z
      .array(
        z.object({
          day: z.string().meta({ format: 'date' }),
          runs: z.int().describe('Finished runs.'),
          triggered: z.int().describe('Runs that raised a hit or saw one again.'),
          hits: z
            .int()
            .nullable()
            .describe(`Hits raised. ${needsScope('hits:read')}`),
          reviewed: z.int().nullable().describe('Those of them that people have judged.'),
          precision: z.number().nullable().describe('Share of true positives of these, 0 to 1. Null without one.'),
        }),
      )
      .describe('The last 30 UTC days, oldest first.'),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;
