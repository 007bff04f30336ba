import { z } from 'zod';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';

export const OrganizationPath = z.object({ id: z.uuid() });

const organizationTag = /^[a-z0-9][a-z0-9.:_-]{0,99}$/;
const tagsMax = 50;

const OrganizationTag = z
  .string()
  .regex(
    organizationTag,
    'must consist of lower-case letters, digits, and . : _ - after the first character, at most 100',
  );
export const OrganizationTags = z
  .array(OrganizationTag)
  .max(tagsMax, `must have at most ${tagsMax} tags`)
  .describe('Tags that the operator chose. Detection packs select organizations by them.');

export const CreateOrganizationInput = z.strictObject({
  name: boundedString({ min: 1, max: 255 }),
  tags: OrganizationTags.optional(),
});
export type CreateOrganizationInput = z.infer<typeof CreateOrganizationInput>;

export const ReplaceTags = z.strictObject({ tags: OrganizationTags });

export const OrganizationQuery = PageQuery.extend({
  tag: OrganizationTag.optional().describe('Only organizations that have the tag.'),
});
export type OrganizationQuery = z.infer<typeof OrganizationQuery>;

/** A key of the installation by its fingerprint, or a command with its machine. Null if that was not recorded. */
const Operator = z.string().nullable();

export const Organization = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: z.string(),
    suspendedAt: z.string().nullable().describe('Since when its requests are refused. Null if they are not.'),
    suspendedBy: Operator.describe('Who suspended it. Null if it is not suspended.'),
    tags: OrganizationTags,
  })
  .meta({ id: 'Organization' });
export type Organization = z.infer<typeof Organization>;

export const OrganizationWithKey = Organization.extend({
  key: z
    .string()
    .nullable()
    .describe(
      'Key of the new organization with every scope. Shown only once. Null in a response replayed by Idempotency-Key.',
    ),
  code: z.literal('secret_already_shown').optional(),
});
export type OrganizationWithKey = z.infer<typeof OrganizationWithKey>;

export const OrganizationList = z.object({ organizations: z.array(Organization), nextCursor: z.string().nullable() });
export type OrganizationList = z.infer<typeof OrganizationList>;

const count = (text: string) => z.int().describe(text);

/** The current usage of an organization. */
export const OrganizationUsage = z
  .object({
    detections: count('Detections that are not deleted.'),
    enabledDetections: count('Enabled detections.'),
    runs: count('Runs of detections that ended in the last 30 days.'),
    hits: count('Hits first seen in the last 30 days.'),
    openHits: count('Hits that nobody has judged.'),
    modelTokens: count('Tokens of language models in the last 30 days.'),
    modelCostUsd: z.number().describe('Cost of language models in the last 30 days, in US dollars.'),
    logDatasets: count('Datasets of logs.'),
    logEvents: count('Log events that its datasets have received.'),
    logBytes: count('Size of its log files, in bytes.'),
    feedSources: count('Feed sources.'),
    feedItems: count('Feed items of its own that are not retracted, besides those that organizations share.'),
    activeKeys: count('API keys that are neither revoked nor expired.'),
  })
  .meta({ id: 'OrganizationUsage' });
export type OrganizationUsage = z.infer<typeof OrganizationUsage>;

export const OrganizationDetails = Organization.extend({ usage: OrganizationUsage });
export type OrganizationDetails = z.infer<typeof OrganizationDetails>;

/** The record of an erasure. It is kept when the organization no longer exists. */
export const Erasure = z
  .object({
    id: z.string().describe('ID of the organization.'),
    name: z.string(),
    requestedAt: z.string(),
    requestedBy: Operator.describe('Who requested the deletion.'),
    suspendedAt: z.string().nullable().describe('When it was suspended before.'),
    suspendedBy: Operator.describe('Who suspended it.'),
    finishedAt: z
      .string()
      .nullable()
      .describe('When no row and no file of the organization was left, which is verified. Null before.'),
    rows: z.record(z.string(), z.int()).describe('Number of deleted rows by table.'),
    failures: z.int().describe('Number of attempts that failed. A worker tries again.'),
    error: z.string().nullable().describe('Message of the last failed attempt. Null when the erasure has finished.'),
    files: z.int().describe('Number of deleted log files.'),
    bytes: z.int().describe('Size of the log files that the database listed.'),
    auditSequence: z.int().nullable().describe('Number of entries of its audit log.'),
    auditHash: z.string().nullable().describe('Hash of the last of these entries.'),
  })
  .meta({ id: 'Erasure' });
export type Erasure = z.infer<typeof Erasure>;
export const ErasureList = z.object({ erasures: z.array(Erasure), nextCursor: z.string().nullable() });
export type ErasureList = z.infer<typeof ErasureList>;

/** The usage of an organization on a UTC day. */
export const UsageDay = z
  .object({
    day: z.string().meta({ format: 'date' }),
    logEvents: count('Log events received, without repetitions.'),
    logBytes: count('Size of these events, uncompressed.'),
    logBytesStored: count('Size of the log files at the last measurement of the day.'),
    runs: count('Runs of detections that ended.'),
    querySeconds: z.number().describe('Time that the queries of completed runs took.'),
    modelTokens: count('Tokens of language models.'),
    modelCostUsd: z.number().describe('Cost of language models in US dollars.'),
    feedItems: count('Items that its feed sources added or corrected.'),
    requests: count('Requests with a valid key or session.'),
    refusedRequests: count('Requests that were answered with 429.'),
  })
  .meta({ id: 'UsageDay' });
export type UsageDay = z.infer<typeof UsageDay>;

const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-03-31')
  .meta({ format: 'date' });

export const UsageQuery = z.object({
  from: day.optional().describe('First UTC day. Default: 29 days before `to`.'),
  to: day.optional().describe('Last UTC day. Default: today.'),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const UsageExportQuery = UsageQuery.extend({
  format: z.enum(['ndjson', 'csv']).optional().describe('Default: `ndjson`.'),
});
export type UsageExportQuery = z.infer<typeof UsageExportQuery>;

export const UsageDays = z.object({ from: z.string(), to: z.string(), days: z.array(UsageDay) });
export type UsageDays = z.infer<typeof UsageDays>;
