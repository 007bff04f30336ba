import { z } from 'zod';

const count = (text: string) => z.int().min(0).max(2_147_483_647).nullable().describe(text);
const size = (text: string) => z.int().min(0).nullable().describe(text);
const usd = (text: string) => z.number().min(0).max(10_000_000).nullable().describe(text);

/** The quotas of an organization. Null: no limit. */
export const quotaFields = {
  enabledDetections: count('Enabled detections.'),
  logEventsPerDay: size('Log events that it may send on a UTC day.'),
  logBytesPerDay: size('Size of the log events that it may send on a UTC day, uncompressed.'),
  logBytesStored: size('Size of its log files.'),
  feedSources: count('Feed sources.'),
  feedItems: count('Feed items of its own that are not retracted.'),
  apiKeys: count('API keys that are neither revoked nor expired.'),
  requestsPerMinute: z
    .int()
    .min(1)
    .max(100_000_000)
    .nullable()
    .describe('Requests with all of its keys and sessions, for each process that serves requests.'),
  modelUsdPerDay: usd('Cost of all language models on a UTC day, in US dollars.'),
  modelUsdPerMonth: usd('Cost of all language models in a UTC month, in US dollars.'),
  observationBytesPerDay: size('Size of the results of tools that its investigations may store on a UTC day.'),
};
export type QuotaName = keyof typeof quotaFields;
export const quotaNames = Object.keys(quotaFields) as QuotaName[];

export const Quotas = z.strictObject(quotaFields);
export type Quotas = z.infer<typeof Quotas>;

export const ChangeQuotas = Quotas.partial();
export type ChangeQuotas = z.infer<typeof ChangeQuotas>;

/** How much of a quota is used. */
export const QuotaState = z
  .object({
    quota: z.enum(quotaNames),
    limit: z.number(),
    used: z.number(),
    share: z.number().describe('`used` by `limit`. 1 for a limit of 0.'),
    level: z.enum(['free', 'nearing', 'reached']).describe('`nearing` from 80 percent.'),
    resetsAt: z.string().nullable().describe('When the count starts again. Null for what is counted as of now.'),
  })
  .meta({ id: 'QuotaState' });
export type QuotaState = z.infer<typeof QuotaState>;

export const OrganizationQuotas = z
  .object({
    quotas: z.object(quotaFields),
    states: z
      .array(QuotaState)
      .describe('The quotas that are set, but for `requestsPerMinute`, which each process counts for itself.'),
    updatedAt: z.string().nullable().describe('When a quota changed last. Null: never.'),
  })
  .meta({ id: 'OrganizationQuotas' });
export type OrganizationQuotas = z.infer<typeof OrganizationQuotas>;
