import { z } from 'zod';
import { Instant, TenantOverrides } from './overrides.schema.ts';
import { platforms } from './platforms.ts';
import {
  adviceActions,
  buckets,
  type Bucket,
  indicatorStatuses,
  itemStatuses,
  killChainStages,
  severities,
  tlps,
} from './vocabulary.ts';

const Confidence = z.number().min(0).max(1).describe('From 0 to 1, with two decimals.');

export const Indicator = z
  .object({
    type: z.string(),
    value: z.string().describe('The value as printed by the source.'),
    normalizedValue: z.string().describe('The refanged, canonical value.'),
    status: z.enum(indicatorStatuses),
    confidence: Confidence,
    firstSeen: Instant.optional(),
    lastSeen: Instant.optional(),
    ttlDays: z.int(),
    correction: z
      .string()
      .optional()
      .describe(
        'How the indicator differs from what the source states, such as `stated as domain, port 8080 removed`.',
      ),
    role: z
      .string()
      .optional()
      .describe('What the value is in the report, if a reader says so, such as `c2`, `victim` or `sinkhole`.'),
    malware: z
      .array(z.string())
      .optional()
      .describe('The malware and tools that the source states for this value itself, if the item has several.'),
    actor: z
      .array(z.string())
      .optional()
      .describe('The actors that the source states for this value itself, if the item has several.'),
  })
  .meta({ id: 'Indicator' });
export type Indicator = z.infer<typeof Indicator>;

const Indicators = z.array(Indicator);
export const Iocs = z.object(
  Object.fromEntries(buckets.map((bucket) => [bucket, Indicators])) as Record<Bucket, typeof Indicators>,
);
export type Iocs = z.infer<typeof Iocs>;

const ThreatName = z.object({
  name: z.string().describe('The canonical name.'),
  confidence: Confidence,
  aliases: z.array(z.string()).describe('Other names. Those that the source itself uses come first.'),
});

export const Classification = z.object({
  attack: z.array(
    z.object({
      technique: z.string(),
      subTechnique: z.string().optional(),
      techniqueName: z.string(),
      confidence: Confidence,
      evidenceRef: z.string().describe('A reference such as `provenance.supportingPassages[0]`.'),
    }),
  ),
  killChain: z.array(z.enum(killChainStages)),
  malware: z.array(ThreatName),
  actor: z.array(ThreatName),
  platforms: z.array(z.enum(platforms)),
  mappings: z.array(z.object({ framework: z.string(), id: z.string(), confidence: Confidence })),
});
export type Classification = z.infer<typeof Classification>;

export const AffectedProduct = z.object({
  vendor: z.string(),
  product: z.string(),
  versions: z.array(z.string()),
  confidence: Confidence,
});
export type AffectedProduct = z.infer<typeof AffectedProduct>;

const Passage = z.object({
  text: z.string(),
  sourceUrl: z.string(),
  charSpan: z
    .object({ start: z.int(), end: z.int() })
    .describe('Offsets in the stored text, in UTF-16 code units. `end` is exclusive.'),
});

const EvidenceRef = z.string().describe('A reference such as `provenance.supportingPassages[0]`.');

const Advice = z.object({
  action: z.enum(adviceActions).describe('`enforce`: turn on a protection.'),
  text: z.string(),
  evidenceRef: EvidenceRef,
});
export type Advice = z.infer<typeof Advice>;

const Footnote = z
  .object({ field: z.enum(['summary', 'tldr', 'attackPath']), text: z.string(), evidenceRef: EvidenceRef })
  .describe(
    'A sentence that a model wrote, and the passage that it rests on. Extracted sentences are passages themselves.',
  );
export type Footnote = z.infer<typeof Footnote>;

const SeverityBasis = z
  .object({
    rule: z.string().describe('The rule that decided, such as `report:exploited-now`.'),
    evidenceRefs: z.array(z.string()).describe('The passages that say so, such as `provenance.supportingPassages[2]`.'),
  })
  .describe(
    'Why a report has its severity. Absent for structured records, and if another record of the same story raised the severity.',
  );

const ReadBy = z
  .object({
    model: z.string().describe('Provider and model.'),
    at: Instant,
    fields: z.array(z.string()).describe('The fields that claims of the model decide, such as `severity` or `name`.'),
    language: z.string().optional().describe('The language in which it was told to write its sentences.'),
    title: z.string().optional().describe('Its translation of the title, which `event.title` keeps as published.'),
  })
  .describe('The model that completed the item. Absent if only the lexicon, or the source itself, decides its fields.');

/** A feed item in a response. Fields without a value are absent. Lists are always present. */
export const FeedItem = z
  .object({
    id: z.string(),
    source: z.object({
      url: z.string().optional(),
      publisher: z.string(),
      publishTime: Instant.optional(),
      language: z.string().optional(),
      name: z.string(),
      tlp: z.enum(tlps),
      license: z.string().optional(),
    }),
    event: z.object({
      title: z.string(),
      severity: z.enum(severities),
      confidence: Confidence,
      status: z.enum(itemStatuses),
      eventFirstSeen: Instant.optional(),
      eventLastSeen: Instant.optional(),
    }),
    summary: z.string().optional(),
    tldr: z.string().optional(),
    attackPath: z.array(z.string()).describe('What happened, in order. Structured sources have techniques.'),
    advice: z.array(Advice).optional().describe('What the report itself advises to do, as it or a model says it.'),
    classification: Classification,
    affectedProducts: z.array(AffectedProduct),
    iocs: Iocs,
    provenance: z.object({
      supportingPassages: z.array(Passage),
      footnotes: z.array(Footnote).optional(),
      readBy: ReadBy.optional(),
    }),
    version: z.int(),
    externalId: z.string().optional(),
    abstract: z.string().optional(),
    lastUpdated: Instant,
    createdAt: Instant,
    addedToFeedAt: Instant,
    canonicalKey: z.string(),
    duplicateOf: z.string().optional(),
    tenantOverrides: TenantOverrides.nullable(),
  })
  .meta({ id: 'FeedItem' });
export type FeedItem = z.infer<typeof FeedItem>;

/** An item in a list of another resource. */
export const ItemLine = z.object({
  id: z.string(),
  title: z.string(),
  publisher: z.string(),
  severity: z.enum(severities),
  publishTime: Instant.optional(),
  addedToFeedAt: Instant,
});

const isEstimated = (meaning: string) =>
  z.literal(true).optional().describe(`Present if very many items match \`q\`: ${meaning}`);

/** The `outputs` of statistics and facets. */
export const CountOutputs = z
  .object({ totalIsEstimated: isEstimated('all numbers are then estimates from a sample of the items.') })
  .optional();

/** Returns the `outputs` of statistics and facets, which are absent if the numbers are exact. */
export const toCountOutputs = (areEstimated: boolean): { outputs?: z.infer<typeof CountOutputs> } =>
  areEstimated ? { outputs: { totalIsEstimated: true } } : {};

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

export const FeedList = z.object({
  items: z.array(FeedItem),
  total: z.number(),
  page: z.number(),
  perPage: z.number(),
  hasNext: z.boolean(),
  validations: z
    .object({
      filters: z.object({ applied: z.record(z.string(), z.string()), unknown: z.array(z.string()) }),
      warnings: z.array(z.object({ code: z.string(), message: z.string(), param: z.string() })),
      profile: z.enum(['none', 'set']),
    })
    .optional(),
  outputs: z
    .object({
      asOf: z
        .string()
        .optional()
        .describe('Token of the snapshot that this page shows. Send it as `asOf` with the next page.'),
      totalIsEstimated: isEstimated('`total` is then an estimate from a sample of the items.'),
      sort: z.string(),
      links: z.object({ stix: z.string(), misp: z.string(), rss: z.string() }),
      highlights: ItemHighlights.optional().describe(
        'With `highlight`: where items of the page match `q`, by item ID.',
      ),
    })
    .optional(),
});
export type FeedList = z.infer<typeof FeedList>;

export const FeedStats = z.object({
  totalItems: z.number(),
  severityBreakdown: z.record(z.enum(severities), z.number()),
  platformBreakdown: z.record(z.enum(platforms), z.number()),
  sourcePublishers: z.array(z.string()),
  recentItems: z.array(z.object({ id: z.string(), title: z.string(), severity: z.string(), publishTime: z.string() })),
  outputs: CountOutputs,
});
export type FeedStats = z.infer<typeof FeedStats>;

export const CvePrediction = z
  .object({
    cve: z.string(),
    probability: z.number().describe('Probability of exploitation within 30 days (EPSS), 0 to 1.'),
    percentile: z.number().describe('Share of CVEs with the same or a lower probability, 0 to 1.'),
    scoredAt: z.string().describe('ISO 8601, UTC.'),
  })
  .describe('The newest prediction for a CVE of the item by a visible source of kind `epss`. It changes no severity.')
  .meta({ id: 'CvePrediction' });

export type CvePrediction = z.infer<typeof CvePrediction>;

export const FeedItemDetail = FeedItem.extend({
  severityBasis: SeverityBasis.optional(),
  predictions: z
    .array(CvePrediction)
    .optional()
    .describe('Absent if no visible source predicts the exploitation of its CVEs.'),
  duplicates: z.array(z.string()).describe('Ids of the other items of its group, root first.'),
  related: z.array(z.string()).describe('Ids of items that it follows, that follow it, or that share a CVE with it.'),
  versions: z.array(
    z.object({
      version: z.int(),
      cause: z
        .string()
        .describe(
          '`added`, `source`, `reanalysis`, `reading` (a model completed it), `group`, `person`, `vanished` or `moved`.',
        ),
      changed: z.array(z.string()),
      at: Instant,
      note: z.string().optional().describe('The reason given by a person.'),
    }),
  ),
});
export type FeedItemDetail = z.infer<typeof FeedItemDetail>;

export const ItemText = z
  .object({ id: z.string(), version: z.int(), text: z.string(), at: Instant })
  .meta({ id: 'ItemText' });
export type ItemText = z.infer<typeof ItemText>;
