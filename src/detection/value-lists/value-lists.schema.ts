import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { timeMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { ValueListName } from '../analysis/tuning.schema.ts';

export const [rowsMax, columnsMax, cellCharsMax] = [10_000, 20, 500];
export const columnName = /^[a-z_][a-z0-9_]{0,62}$/;

const Columns = z
  .array(
    z
      .string()
      .regex(columnName, 'must start with a lower-case letter or underscore, then letters, digits and underscores'),
  )
  .min(1)
  .max(columnsMax);
const Cell = boundedString({ max: cellCharsMax });
const isFetchable = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};
const everyHours = z.int().min(1).max(720).describe('How often the rows are fetched.');
const addressFields = {
  url: boundedString({ min: 1, max: 2000 })
    .refine(isFetchable, 'must be an http or https address without a password')
    .describe('Address of a CSV file whose first line has the names of the columns.'),
};
const queryFields = {
  query: boundedString({ min: 1, max: 100_000 }).describe(
    'A query as in a detection. A row of its result is a row of the list, with the cells of `columns`.',
  ),
  connectionId: z
    .guid('must be a UUID')
    .toLowerCase()
    .nullable()
    .describe('Where the query runs. Null: the embedded store.'),
  spanHours: z.int().min(1).max(8760).describe('The time before a fetch whose events the query reads.'),
};

export const ValueListPath = z.object({ name: ValueListName });

export const ValueListInput = z.strictObject({
  description: boundedString({ max: 1_000 }).default(''),
  values: z
    .array(boundedString({ min: 1, max: 500 }))
    .max(rowsMax)
    .optional()
    .describe(
      'Exact values, patterns in which `*` stands for any text, and networks such as `10.0.0.0/8`. Case does not matter. Repeats are dropped. The list has one column, `value`.',
    ),
  columns: Columns.optional().describe(
    'Names of the columns. The first one has the values that are matched. With a query, its columns with these names.',
  ),
  rows: z
    .array(z.array(Cell).min(1).max(columnsMax))
    .max(rowsMax)
    .optional()
    .describe(
      'The cells of each row, in the order of `columns`. The first cell is a value as in `values`, and not empty.',
    ),
  csv: boundedString({ min: 1, max: 8_000_000 })
    .optional()
    .describe('The rows as CSV. The first line has the names of the columns.'),
  source: z
    .union([
      z.strictObject({ ...addressFields, everyHours: everyHours.default(24) }),
      z.strictObject({
        ...queryFields,
        connectionId: queryFields.connectionId.default(null),
        spanHours: queryFields.spanHours.default(24),
        everyHours: everyHours.default(24),
      }),
    ])
    .optional()
    .describe(
      'Where the rows are fetched from, within seconds and then on a schedule: a CSV file, or a query, which needs `columns` and the scope `detections:run`. Private addresses are refused.',
    ),
  expectedRevision: revisionInput(
    timeMax,
    'The `revision` that the change is based on, and 0 for a list that does not exist. If it is not the current one, the answer is 409, and `stale` lists what changed. Absent: replaces any list.',
  ),
});
export type ValueListInput = z.infer<typeof ValueListInput>;
export type ListSource = NonNullable<ValueListInput['source']>;

const Time = z.string().meta({ format: 'date-time' });

const fetchFields = {
  everyHours,
  checkedAt: Time.nullable(),
  failure: z.string().nullable().describe('Why the last fetch failed. The list then keeps its rows.'),
};

const summary = {
  name: z.string(),
  description: z.string(),
  columns: z.array(z.string()),
  valuesTotal: z.number().int(),
  source: z
    .union([z.object({ ...addressFields, ...fetchFields }), z.object({ ...queryFields, ...fetchFields })])
    .nullable(),
  usedBy: z.array(z.string()).describe('IDs of the detections whose tuning or exceptions specify the list.'),
  keyId: z.string().nullable().describe('API key that wrote the list last.'),
  actor: ActorField,
  updatedAt: z.string(),
  revision: z.number().int().describe('Increases with every change of the list.'),
};

export const ValueList = z
  .object({
    ...summary,
    values: z.array(z.string()).describe('The first column.'),
    rows: z.array(z.array(z.string())).nullable().describe('All cells. Null: the list has only one column.'),
  })
  .meta({ id: 'ValueList' });
export type ValueList = z.infer<typeof ValueList>;

export const ValueLists = z.object({ lists: z.array(z.object(summary)) });
export type ValueLists = z.infer<typeof ValueLists>;
