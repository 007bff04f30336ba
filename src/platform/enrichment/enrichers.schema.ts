import { z } from 'zod';
import { boundedString } from '../lib/text/bounded-text.ts';
import { enricherKindNames } from './enricher-kinds.ts';

const limits = {
  perMinute: z.int().min(1).max(6_000).describe('Look-ups per minute at most.'),
  perDay: z.int().min(1).max(1_000_000).describe('Look-ups per day (UTC) at most.'),
  cacheHours: z.int().min(1).max(8_760).describe('How long an answer is used again.'),
  costUsd: z.number().min(0).max(100).describe('What a look-up costs, in US dollars.'),
};

export const EnricherPath = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must be 1 to 100 lower-case letters, digits, dots, dashes or underscores'),
});

export const EnricherInput = z.strictObject({
  kind: z.enum(enricherKindNames),
  settings: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Settings of the kind. `dns`: `server`. `http`: `url`, `fields`, `types`, `header`.'),
  credentials: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      '`http`: `headerValue`. Stored encrypted and never returned. Absent: those that are stored remain, unless the host changes.',
    ),
  perMinute: limits.perMinute.default(60),
  perDay: limits.perDay.default(1_000),
  cacheHours: limits.cacheHours.default(24),
  costUsd: limits.costUsd.default(0),
  enabled: z.boolean().default(true),
});
export type EnricherInput = z.infer<typeof EnricherInput>;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const Enricher = z
  .object({
    name: z.string(),
    kind: z.enum(enricherKindNames),
    settings: z.record(z.string(), z.unknown()),
    hasCredentials: z.boolean(),
    ...limits,
    enabled: z.boolean(),
    usedToday: z.int().describe('Look-ups since midnight UTC, without those answered from earlier ones.'),
    failure: z.string().nullable().describe('Why the last look-up got no answer. Null: it got one.'),
    updatedAt: time,
  })
  .meta({ id: 'Enricher' });
export type Enricher = z.infer<typeof Enricher>;

export const EnricherList = z.object({ enrichers: z.array(Enricher) });
export type EnricherList = z.infer<typeof EnricherList>;

export const LookUpValues = z.strictObject({
  values: z
    .array(boundedString({ min: 1, max: 500 }))
    .min(1)
    .max(20)
    .describe('Public addresses, domains and hashes. Others are left out.'),
});

export const EnrichmentList = z.object({
  enrichments: z.array(
    z
      .object({
        enricher: z.string().describe('Name of the enricher. `geo`: the databases of addresses.'),
        value: z.string(),
        fields: z.record(z.string(), z.union([z.string(), z.number()])).describe('As other parties say.'),
        at: time.describe('When it was looked up.'),
        costUsd: z.number().describe('What that cost.'),
      })
      .meta({ id: 'Enrichment' }),
  ),
});
export type EnrichmentList = z.infer<typeof EnrichmentList>;
