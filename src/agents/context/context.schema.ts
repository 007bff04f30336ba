import { z } from 'zod';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { severities } from '../../detection/analysis/candidate.ts';
import { EntityAliases } from '../../detection/entities/entities.schema.ts';
import { hitStatuses } from '../../detection/hits/hits.schema.ts';
import { sightingMatches } from '../../feed/model/vocabulary.ts';
import { IndicatorLookup } from '../../feed/indicators/indicators.schema.ts';

const time = z.string().meta({ format: 'date-time' });

const HitReference = z.object({
  id: z.string(),
  detectionId: z.string(),
  detectionName: z.string(),
  entity: z.string(),
  headline: z.string(),
  severity: z.enum(severities),
  status: z.enum(hitStatuses),
  createdAt: time,
});

const SharedItem = z.object({
  id: z.string(),
  title: z.string(),
  publisher: z.string(),
  severity: z.string(),
  addedToFeedAt: time,
  values: z.array(z.string()).describe('Indicators of the item that the rows contain.'),
});

export const HitContext = z
  .object({
    entityHits: z.array(HitReference).describe('Other hits of the entity, of any detection, newest first. At most 20.'),
    similar: z
      .array(
        HitReference.extend({
          sameEntity: z.boolean(),
          sharedEvidence: z.array(z.object({ field: z.string(), value: z.string() })),
          judgedAt: time.nullable(),
          reason: z.string().nullable().describe('The reason of the latest judgment.'),
        }),
      )
      .describe('Hits of the detection that people judged, the most similar first. At most 10 of the newest 200.'),
    feedItems: z
      .array(SharedItem)
      .nullable()
      .describe(
        'Visible items with an indicator of the rows: an address, domain, URL or hash. At most 20. Null if the key lacks the scope `feed:read`.',
      ),
    timeline: z
      .array(
        z.object({
          at: time,
          kind: z
            .enum(['event', 'raised', 'seen', 'status', 'delivered', 'delivery_failed'])
            .describe('`event`: first and last row. `seen`: found in a window.'),
          detail: z.string().nullable(),
          runId: z.string().nullable(),
          keyId: z.string().nullable(),
          actor: ActorField,
        }),
      )
      .describe('Oldest first, the latest 300.'),
  })
  .meta({ id: 'HitContext' });
export type HitContext = z.infer<typeof HitContext>;

export const IndicatorContext = z
  .object({
    feed: IndicatorLookup,
    sightings: z
      .array(
        z.object({
          itemId: z.string(),
          connectionId: z.string(),
          dataset: z.string(),
          value: z.string(),
          match: z.enum(sightingMatches),
          observed: z.string(),
          event: z.string(),
          foundAt: time,
        }),
      )
      .describe(
        'Log rows that contain it, as the search for indicators of the feed found them, newest first. At most 50.',
      ),
    hits: z
      .array(
        z.object({
          id: z.string(),
          headline: z.string(),
          entity: z.string(),
          severity: z.enum(severities),
          status: z.enum(hitStatuses),
          createdAt: time,
        }),
      )
      .nullable()
      .describe(
        'Hits whose entity it is, or whose rows contain it, newest first. At most 20 of the newest 5,000. Null if the key lacks the scope `hits:read`.',
      ),
  })
  .meta({ id: 'IndicatorContext' });
export type IndicatorContext = z.infer<typeof IndicatorContext>;

export const EntityProfile = z
  .object({
    ...EntityAliases.shape,
    hitsTotal: z.number().int(),
    risk: z
      .object({
        score: z.number().describe('The sum of the points of its latest 1,000 hits.'),
        threshold: z
          .number()
          .describe('Score from which its hits are an incident of their own (`TOCSIN_RISK_THRESHOLD`).'),
        history: z
          .array(z.object({ at: time, score: z.number() }))
          .describe('The score in each of the last 30 days, oldest first. The last one is the score now.'),
        causes: z
          .array(
            z.object({
              id: z.string(),
              headline: z.string(),
              severity: z.enum(severities),
              status: z.enum(hitStatuses),
              lastSeenAt: time,
              points: z.number(),
            }),
          )
          .describe('Hits that add points, most first, at most 20.'),
      })
      .describe(
        'A hit adds 10 (low), 25, 50 or 100 (critical) points, times its confidence, times the precision of its detection by the reviews of people. A confirmed hit adds all of them, and a dismissed one none. Half of them are gone after a week (`TOCSIN_RISK_HALF_LIFE_DAYS`).',
      ),
    firstSeenAt: time.nullable().describe('First and last time in hits. Null without hits.'),
    lastSeenAt: time.nullable(),
    hits: z.array(HitReference).describe('The newest, at most 20. `GET /api/hits?entity=` lists all.'),
    notes: z
      .array(z.object({ entity: z.string(), note: z.string() }))
      .describe('Notes on any of its names, at most 20.'),
    feedItems: z
      .array(SharedItem)
      .nullable()
      .describe(
        'Visible items with one of its names as an indicator, at most 20. Null if the key lacks the scope `feed:read`.',
      ),
  })
  .meta({ id: 'EntityProfile' });
export type EntityProfile = z.infer<typeof EntityProfile>;
