import { z } from 'zod';
import { ignoreFields, Instant } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { nameStyles } from '../siem/connector.ts';
import { remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';

export const remoteKinds = Object.keys(remoteConnectors) as [RemoteSiemType, ...RemoteSiemType[]];
const kinds = ['local', ...remoteKinds] as const;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

const fields = {
  name: boundedString({ min: 1, max: 255 }),
  settings: z
    .record(z.string(), z.unknown())
    .describe('Settings of this kind of SIEM: see GET /api/connections/kinds.'),
  credentials: z
    .record(z.string(), z.unknown())
    .describe(
      'Credentials for this kind of SIEM. Stored encrypted and never returned. Required again when the address changes.',
    ),
  clock: z
    .enum(['ingest', 'event'])
    .describe(
      'The time that windows are based on. ingest requires a column for it in the settings and is then the default.',
    ),
  delayMinutes: z.int().min(0).max(1440).describe('How long after the end of a window its slot is due.'),
  recheckMinutes: z
    .int()
    .min(0)
    .max(10_080)
    .describe('On the clock event: how long after its slot a window is examined a second time. 0: never.'),
  places: z.int().min(1).max(100).describe('Runs that may query the connection concurrently.'),
};

export const CreateConnection = z.strictObject({
  kind: z.enum(remoteKinds),
  name: fields.name,
  settings: fields.settings,
  credentials: fields.credentials,
  clock: fields.clock.optional(),
  delayMinutes: fields.delayMinutes.default(5),
  recheckMinutes: fields.recheckMinutes.default(360),
  places: fields.places.default(4),
});
export type CreateConnection = z.infer<typeof CreateConnection>;

const readOnly = ['id', 'kind', 'isDefault', 'pause', 'createdAt', 'updatedAt'];

/** Absent fields stay unchanged. `settings` and `credentials` are replaced as a whole. Read-only fields of a GET response are ignored. */
export const UpdateConnection = ignoreFields(readOnly, z.strictObject(fields).partial());
export type UpdateConnection = z.infer<typeof UpdateConnection>;

export const Connection = z
  .object({
    id: z.string(),
    kind: z.enum(kinds),
    name: z.string(),
    isDefault: z.boolean().describe('true: the embedded log store, which detections query by default.'),
    settings: fields.settings,
    clock: z.enum(['ingest', 'event']),
    delayMinutes: z.int(),
    recheckMinutes: z.int(),
    places: z.int(),
    pause: z
      .object({ kind: z.string(), message: z.string(), since: time })
      .nullable()
      .describe('Why runs do not query it at present, or null. A paused connection is checked every five minutes.'),
    createdAt: time.nullable(),
    updatedAt: time.nullable(),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof Connection>;

export const ConnectionList = z.object({ connections: z.array(Connection), nextCursor: z.string().nullable() });
export type ConnectionList = z.infer<typeof ConnectionList>;

export const ConnectionKinds = z.object({
  kinds: z.array(
    z.object({
      kind: z.enum(remoteKinds),
      label: z.string(),
      language: z.string().describe('The query language.'),
      writing: z.string().describe('How to write a query and restrict it to its window.'),
      names: z
        .enum(nameStyles)
        .describe('How names of columns are written: `postgres` quotes those with capital letters, `pipes` none.'),
      source: z
        .object({ label: z.string(), example: z.string() })
        .describe('What `source` of a dataset of portable queries is.'),
      settings: z.record(z.string(), z.unknown()).describe('A JSON schema. Forms show fields with `isMain` first.'),
      credentials: z.record(z.string(), z.unknown()).describe('A JSON schema.'),
    }),
  ),
});
export type ConnectionKinds = z.infer<typeof ConnectionKinds>;

export const CheckConnection = z.strictObject({
  query: boundedString({ min: 1, max: 100_000 }).optional().describe('Also check that this query would run.'),
});
export type CheckConnection = z.infer<typeof CheckConnection>;

export const ConnectionCheck = z.object({
  ok: z.literal(true),
  ms: z.number(),
  warnings: z
    .array(z.object({ code: z.string(), detail: z.string() }))
    .describe('What the query lets pass, such as a column that no event has.'),
});
export type ConnectionCheck = z.infer<typeof ConnectionCheck>;

export const ConnectionFieldsQuery = z.object({
  portable: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      "true: the datasets of portable queries, with the fields that their events have. Default: those of the SIEM's language.",
    ),
});
export type ConnectionFieldsQuery = z.infer<typeof ConnectionFieldsQuery>;

export const ConnectionFields = z.object({
  datasets: z.array(
    z.object({ dataset: z.string(), fields: z.array(z.object({ name: z.string(), type: z.string() })) }),
  ),
});
export type ConnectionFields = z.infer<typeof ConnectionFields>;

export const ConnectionPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

const searchRowsMax = 1000;

export const SearchInput = z.strictObject({
  query: boundedString({ min: 1, max: 100_000 }).describe(
    'As in a detection: SQL for the embedded store, which reads datasets by name, or the language of the connection.',
  ),
  from: Instant.describe('Start of the window, on event time.'),
  to: Instant.describe('End of the window. Not included.'),
  connectionId: z
    .guid('must be a UUID')
    .toLowerCase()
    .optional()
    .describe('Connection to search. Default: the embedded store.'),
  limit: z.int().min(1).max(searchRowsMax).default(200).describe('Most rows to return.'),
});
export type SearchInput = z.infer<typeof SearchInput>;

export const SearchRows = z.object({
  columns: z.array(z.string()).describe('In the order of the query, as far as it is known.'),
  rows: z.array(z.record(z.string(), z.unknown())).describe('Values are JSON values, times are ISO 8601 text.'),
  total: z.int().describe('Rows that the query found. A SIEM may count only those that it returned.'),
  truncated: z.boolean().describe('There are more rows than `limit`, or they are larger than 8 MiB.'),
  aggregate: z.boolean().describe('The rows are groups, not events.'),
  noData: z.boolean().describe('A dataset of the query never had an event.'),
  ms: z.number(),
  warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
});
export type SearchRows = z.infer<typeof SearchRows>;
