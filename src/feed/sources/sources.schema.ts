import { z } from 'zod';
import { tlps } from '../model/vocabulary.ts';
import { Instant } from '../../platform/lib/instant.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';
import { instant } from '../model/source-record.ts';
import { SourceAuth } from './source-auth.ts';
import { sourceKinds } from '../formats/registry.ts';

const Words = z.array(text({ min: 1, max: 200 })).max(100);
const Tlp = z.enum([...tlps, 'WHITE', 'AMBER_STRICT']);
const OrgIds = z.array(z.string().regex(uuidPattern, 'must be a UUID')).max(1_000);

const fields = {
  name: text({ min: 1, max: 255 }),
  url: text({ min: 1, max: 2_000 }).describe('http, https, or a `file:` address where the settings allow one.'),
  publisher: text({ min: 1, max: 200 }).nullable().optional(),
  tlp: Tlp.nullable().optional(),
  license: text({ min: 1, max: 200 }).nullable().optional(),
  reliability: z.number().min(0).max(1).optional().describe('How far the source is trusted, 0 to 1.'),
  schedule: text({ max: 500 })
    .nullable()
    .optional()
    .describe('Cron expression in UTC, not more often than hourly; null: that of the kind.'),
  enabled: z.boolean().optional(),
  include: Words.optional().describe('Only records with one of these words.'),
  exclude: Words.optional().describe('No record with one of these words.'),
  auth: SourceAuth.nullable()
    .optional()
    .describe('A credential for the address; kept sealed and never given out. null removes it.'),
  assignedTo: OrgIds.nullable()
    .optional()
    .describe('Organizations that see a shared source; null: all. Needs feed:admin.'),
};

/** What a source must have, unless the catalogue has it. */
const needed = ['kind', 'name', 'url'] as const;

export const CreateSource = z
  .strictObject({
    catalogue: z.string().optional().describe('A name of GET /api/feed/catalogue, which gives what is not given here.'),
    ...fields,
    kind: z.enum(sourceKinds).optional().describe('Required without `catalogue`.'),
    name: fields.name.optional().describe('Required without `catalogue`.'),
    url: fields.url
      .optional()
      .describe('http, https, or a `file:` address where the settings allow one. Required without `catalogue`.'),
    visibility: z.enum(['private', 'shared']).optional().describe('Default private; shared needs feed:admin.'),
  })
  .superRefine((input, context) => {
    if (input.catalogue !== undefined) return;
    for (const name of needed)
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
    error: z.string().optional().describe('Why the pull was not good; it then changed no item.'),
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
    assignedTo: z.array(z.string()).nullable().optional().describe('Only for its owner.'),
    own: z.boolean(),
    hasAuth: z.boolean().optional().describe('Only for its owner.'),
    nextPullAt: z.string().nullable(),
    lastPullAt: z.string().nullable(),
    lastSuccessAt: z.string().nullable(),
    lastNewAt: z.string().nullable(),
    lagSeconds: z.int().nullable().describe('Time since the last good pull.'),
    silentSince: z
      .string()
      .nullable()
      .describe('Since when nothing new has come for longer than is usual for the source.'),
    lastError: z.string().nullable(),
    failures: z.int(),
    lastResult: PullOutcome.nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof Source>;

const readOnly = [
  'id',
  'own',
  'hasAuth',
  'nextPullAt',
  'lastPullAt',
  'lastSuccessAt',
  'lastNewAt',
  'lagSeconds',
  'silentSince',
  'lastError',
  'failures',
  'lastResult',
  'createdAt',
  'updatedAt',
] as const;

/** Every field optional; what only the service writes is ignored, so that what GET gave can be PUT back. */
export const UpdateSource = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  url: fields.url.optional(),
  kind: z.enum(sourceKinds).optional().describe('Cannot change.'),
  visibility: z.enum(['private', 'shared']).optional().describe('Cannot change.'),
  ...(Object.fromEntries(readOnly.map((name) => [name, z.unknown().optional()])) as Record<
    (typeof readOnly)[number],
    z.ZodOptional<z.ZodUnknown>
  >),
});
export type UpdateSource = z.infer<typeof UpdateSource>;

const textMaxBytes = 1024 * 1024;

export const PostItem = z.strictObject({
  text: z
    .string()
    .refine((text) => text.trim() !== '', 'must hold something to read')
    .refine((text) => Buffer.byteLength(text) <= textMaxBytes, `must have at most ${textMaxBytes} bytes in UTF-8`)
    .describe('The report, at most 1 MiB in UTF-8.'),
  title: text({ min: 1, max: 300 }).optional().describe("Default: the text's first line."),
  publisher: text({ min: 1, max: 200 }).optional().describe('Default: the name of the organization.'),
  publishTime: Instant.or(z.iso.date())
    .refine((text) => instant(text) !== undefined, 'must lie in the years 100 to 4500')
    .optional()
    .describe('RFC 3339, or a date alone.'),
  sourceUrl: text({ max: 2_000 }, z.url({ protocol: /^https?$/, message: 'must begin with http:// or https://' }))
    .refine((url) => !URL.parse(url)?.username && !URL.parse(url)?.password, 'may not hold a user name or password')
    .optional()
    .describe('Where the text was published. It is not fetched.'),
  tlp: Tlp.optional().describe('Default AMBER.'),
});
export type PostItem = z.infer<typeof PostItem>;

export const SourceList = z.object({ sources: z.array(Source), nextCursor: z.string().nullable() });
export type SourceList = z.infer<typeof SourceList>;
