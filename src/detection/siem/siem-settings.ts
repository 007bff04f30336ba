import { z } from 'zod';
import { caCertificate } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { withoutTrailingSlashes, withoutBrackets } from '../../platform/lib/outbound-http/addresses.ts';

/** Marks a setting that forms show beside the required ones. */
export const shown = { isMain: true };

// Settings that several SIEMs share.
export { caCertificate };

export const httpAddress = boundedString({ max: 500 }, z.url({ protocol: /^https?$/ }))
  .refine((text) => !/^https?:\/\/[^/]*@/.test(text), 'must not contain a user name or password')
  .transform(withoutTrailingSlashes)
  .describe('An https URL. http is accepted only for hosts in TOCSIN_FETCH_ALLOW.');

/** A column as written in a query, optionally qualified and quoted. */
export const columnName = boundedString({ max: 200 }).regex(
  /^(?:[\w@]+|"[^"\\]+"|`[^`\\]+`)(?:\.(?:[\w@]+|"[^"\\]+"|`[^`\\]+`))*$/,
  'must be a column name',
);

export const fieldName = boundedString({ max: 200 }).regex(/^[\w@.-]+$/, 'must be a field name');

export const timeColumn = columnName.describe('The event time, which $window restricts.');
export const ingestColumn = columnName.optional().describe('The ingestion time. Required for clock `ingest`.');
export const timeField = fieldName.default('@timestamp');
export const ingestField = fieldName
  .optional()
  .describe('The ingestion time, such as event.ingested. Required for clock `ingest`.');
export const listedIndex = boundedString({ min: 1, max: 500 })
  .default('logs-*')
  .describe('The index whose fields are listed.')
  .meta(shown);

const portableDataset = z.strictObject({
  source: boundedString({ min: 1, max: 500 })
    .regex(/^[^|;`$\r\n]+$/, 'must be the name of a table or an index, or the terms of a Splunk search')
    .describe('The table, the index, or for Splunk the terms of a search, such as `index=wineventlog`.'),
  event: fieldName.optional().describe('The field with the event as JSON. Default: the fields are the event.'),
});

export const datasets = z
  .record(z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'is not a dataset name'), portableDataset)
  .refine((all) => Object.keys(all).length <= 100, 'must have at most 100 datasets')
  .optional()
  .describe('Where portable queries find their datasets, such as `{"windows": {"source": "winlogbeat-*"}}`.');

export const lateDays = z
  .int()
  .min(1)
  .max(365)
  .default(7)
  .describe('How many days the event time may lie before the ingestion time. Used on clock `ingest`.');

export const userPassword = z.strictObject({
  user: boundedString({ min: 1, max: 255 }),
  password: boundedString({ min: 1, max: 1000 }),
});

export const buildBasicAuth = ({ user, password }: z.infer<typeof userPassword>): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Returns the first of `fields` with an http URL, and its host. */
export function findPlainHttpHost(
  settings: Record<string, unknown>,
  ...fields: string[]
): { field: string; host: string } | undefined {
  for (const field of fields) {
    const url = new URL(String(settings[field]));
    if (url.protocol === 'http:') return { field, host: withoutBrackets(url.hostname) };
  }
  return undefined;
}

/** Returns the settings of a search cluster that limits the rows of a response. `limit` describes the setting of the cluster for it. */
export const clusterSettings = (defaultRows: number, limit: string) =>
  z.strictObject({
    url: httpAddress,
    caCertificate,
    timeField,
    ingestField,
    index: listedIndex,
    rowsAtOnce: z.int().min(100).max(10_000).default(defaultRows).describe(limit),
    datasets,
  });
