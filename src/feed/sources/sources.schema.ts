import { z } from 'zod';
import { tlps, TlpInput, toStoredTlp } from '../model/vocabulary.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { SourceAuth } from './source-auth.ts';
import { sourceKinds } from '../formats/registry.ts';

const WordList = z.array(boundedString({ min: 1, max: 200 })).max(100);
const OrgIds = z.array(z.string().regex(uuidPattern, 'must be a UUID')).max(1_000);

/** Where sightings of a source's items are sent. */
export const SourceSightings = z.strictObject({
  url: boundedString({ min: 1, max: 2_000 }).describe(
    'The MISP instance or the TAXII collection, at the host of the source, whose credential is sent.',
  ),
  tlpMax: TlpInput.transform(toStoredTlp)
    .default('GREEN')
    .describe('Nothing is sent about items with a stricter marking. Default `GREEN`.'),
});
export type SourceSightings = z.infer<typeof SourceSightings>;

const fields = {
  name: boundedString({ min: 1, max: 255 }),
  url: boundedString({ min: 1, max: 2_000 }).describe(
    'An http or https address, or a `file:` address if the settings allow it.',
  ),
  publisher: boundedString({ min: 1, max: 200 }).nullable().optional(),
  tlp: TlpInput.nullable().optional(),
  license: boundedString({ min: 1, max: 200 }).nullable().optional(),
  reliability: z.number().min(0).max(1).optional().describe('How reliable the source is, 0 to 1.'),
  schedule: boundedString({ max: 500 })
    .nullable()
    .optional()
    .describe('Cron expression in UTC, at most hourly. null: the default of the kind.'),
  enabled: z.boolean().optional(),
  include: WordList.optional().describe('Only records that contain one of these words.'),
  exclude: WordList.optional().describe('No records that contain one of these words.'),
  auth: SourceAuth.nullable()
    .optional()
    .describe('A credential for the address. Stored encrypted and never returned. null removes it.'),
  sightings: SourceSightings.nullable()
    .optional()
    .describe(
      'Sends that indicators of the source were seen in your logs, or are false positives, to the source. Only for private sources of the kinds `misp` and `taxii`. null: nothing is sent.',
    ),
  assignedTo: OrgIds.nullable()
    .optional()
    .describe('Organizations that see a shared source. null: all. Needs `feed:admin`.'),
};

/** Required unless the source comes from the catalog. */
const required = ['kind', 'name', 'url'] as const;

export const CreateSource = z
  .strictObject({
    catalogue: z
      .string()
      .optional()
      .describe('A name of GET /api/feed/catalogue, which provides the fields that are omitted here.'),
    ...fields,
    kind: z.enum(sourceKinds).optional().describe('Required without `catalogue`.'),
    name: fields.name.optional().describe('Required without `catalogue`.'),
    url: fields.url
      .optional()
      .describe(
        'An http or https address, or a `file:` address if the settings allow it. Required without `catalogue`.',
      ),
    visibility: z.enum(['private', 'shared']).optional().describe('Default `private`. `shared` needs `feed:admin`.'),
  })
  .superRefine((input, context) => {
    if (input.catalogue !== undefined) return;
    for (const name of required)
      if (input[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is required without catalogue' });
  });
export type CreateSource = z.infer<typeof CreateSource>;

export const PullOutcome = z
  .object({
    added: z.int(),
    corrected: z.int(),
    retracted: z.int(),
    unchanged: z.int(),
    skipped: z.array(z.object({ entry: z.string(), reason: z.string() })),
    error: z
      .string()
      .optional()
      .describe(
        'Why the pull failed. A failed pull changes no item, unless it stopped while its items were being written.',
      ),
  })
  .meta({ id: 'PullOutcome' });

export const Source = z
  .object({
    id: z.string(),
    kind: z.enum(sourceKinds),
    name: z.string(),
    url: z.string(),
    publisher: z.string().nullable(),
    tlp: z.enum(tlps).nullable(),
    license: z.string().nullable(),
    reliability: z.number(),
    schedule: z.string(),
    enabled: z.boolean(),
    include: z.array(z.string()),
    exclude: z.array(z.string()),
    visibility: z.enum(['private', 'shared']),
    assignedTo: z.array(z.string()).nullable().optional().describe('Only for the owner.'),
    own: z.boolean(),
    hasAuth: z.boolean().optional().describe('Only for the owner.'),
    sightings: z
      .object({ url: z.string(), tlpMax: z.enum(tlps) })
      .nullable()
      .optional()
      .describe('Where sightings are sent. Only for the owner.'),
    sightingsError: z
      .string()
      .nullable()
      .optional()
      .describe('Why sightings could not be sent the last time. Only for the owner.'),
    nextPullAt: z.string().nullable(),
    lastPullAt: z.string().nullable(),
    lastSuccessAt: z.string().nullable(),
    lastNewAt: z.string().nullable(),
    lagSeconds: z.int().nullable().describe('Seconds since the last good pull.'),
    silentSince: z.string().nullable().describe('Since when the source has had no new item for longer than usual.'),
    lastError: z.string().nullable(),
    failures: z.int(),
    lastResult: PullOutcome.nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof Source>;

type ReadOnlyField = Exclude<keyof Source, keyof typeof fields | 'kind' | 'visibility'>;
const readOnly = Object.keys(Source.shape).filter(
  (name) => !(name in fields) && !['kind', 'visibility'].includes(name),
);

/** All fields are optional. Read-only fields are ignored, so that the response of a GET can be sent back in a PUT. */
export const UpdateSource = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  url: fields.url.optional(),
  kind: z.enum(sourceKinds).optional().describe('Cannot change.'),
  visibility: z.enum(['private', 'shared']).optional().describe('Cannot change.'),
  ...(Object.fromEntries(readOnly.map((name) => [name, z.unknown().optional()])) as Record<
    ReadOnlyField,
    z.ZodOptional<z.ZodUnknown>
  >),
});
export type UpdateSource = z.infer<typeof UpdateSource>;

export const TestSource = z
  .strictObject({
    id: z
      .string()
      .regex(uuidPattern, 'must be a UUID')
      .optional()
      .describe('A source that exists. Its kind, address and credential are tested where they are omitted here.'),
    catalogue: z.string().optional().describe('A name of GET /api/feed/catalogue, which provides kind and address.'),
    kind: z.enum(sourceKinds).optional().describe('Required without `id` and `catalogue`.'),
    url: fields.url.optional().describe('Required without `id` and `catalogue`.'),
    auth: fields.auth.describe('A credential for the address. It is not stored. null: none.'),
  })
  .superRefine((input, context) => {
    if (input.id !== undefined || input.catalogue !== undefined) return;
    for (const name of ['kind', 'url'] as const)
      if (input[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is required without id or catalogue' });
  });
export type TestSource = z.infer<typeof TestSource>;

export const SourceTest = z
  .object({
    kind: z.enum(sourceKinds),
    url: z.string(),
    items: z.int().describe('The number of items that were read, or of scores (`epss`).'),
    indicators: z.int().describe('The number of indicators in their fields. Texts are not analyzed.'),
    more: z.boolean().describe('Whether the source has more than was read.'),
    samples: z
      .array(z.object({ title: z.string(), url: z.string().nullable(), publishTime: z.string().nullable() }))
      .describe('The first items.'),
    skipped: z.array(z.object({ entry: z.string(), reason: z.string() })).describe('The first entries not read.'),
    error: z.string().optional().describe('Why the source cannot be read.'),
  })
  .meta({ id: 'SourceTest' });
export type SourceTest = z.infer<typeof SourceTest>;

export const SourceList = z.object({ sources: z.array(Source), nextCursor: z.string().nullable() });
export type SourceList = z.infer<typeof SourceList>;
