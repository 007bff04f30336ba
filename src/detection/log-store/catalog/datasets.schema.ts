import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

export const DatasetPath = z.object({ dataset: boundedString({ max: 100 }) });

const Column = z
  .object({
    name: z.string(),
    type: z.string(),
    declared: z.boolean().optional().describe('A user declared the type. Otherwise it follows the data.'),
    drift: z
      .object({
        count: z.number().int(),
        valueType: z.string().describe('JSON type of the latest of these values.'),
        at: z.string().describe('When the latest of them was received.'),
      })
      .optional()
      .describe('Values that do not fit the type. They are null in the column.'),
  })
  .meta({ id: 'DatasetColumn' });

export const Shortfall = z
  .object({
    since: z.string().describe('RFC 3339, UTC. Start of the hours in which it was noticed.'),
    hours: z.int().describe('Number of these hours.'),
    events: z.int().describe('Events that arrived in them.'),
    expected: z.int().describe('The lowest number of events that arrived in the same hours of an earlier day.'),
  })
  .meta({ id: 'DatasetShortfall' });

const Dataset = z
  .object({
    name: z.string(),
    events: z.number().int(),
    firstEventAt: z.string().nullable(),
    lastEventAt: z.string().nullable(),
    lastIngestedAt: z.string().nullable(),
    shortfall: Shortfall.nullable().describe(
      'Set while the dataset receives fewer events than in the same hours of the last 7 to 14 days.',
    ),
    columns: z.array(Column),
  })
  .meta({ id: 'Dataset' });

const declaredTypes = [
  ...(['BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'] as const),
  ...(['BOOLEAN[]', 'BIGINT[]', 'DOUBLE[]', 'TIMESTAMP[]', 'VARCHAR[]'] as const),
  'JSON',
] as const;

const ColumnDeclaration = z.strictObject({
  name: boundedString({ min: 1, max: 1000 }).describe(
    'A column, or a dotted path of keys inside objects. Case does not matter.',
  ),
  type: z.enum(declaredTypes),
});
export type ColumnDeclaration = z.infer<typeof ColumnDeclaration>;

export const ColumnDeclarations = z.strictObject({
  columns: z.array(ColumnDeclaration).max(1000).describe('All declared columns. The others follow their data.'),
});

export const DatasetColumns = z.object({ name: z.string(), columns: z.array(Column) });
export type DatasetColumns = z.infer<typeof DatasetColumns>;

export const DatasetList = z.object({ datasets: z.array(Dataset) });
export type DatasetList = z.infer<typeof DatasetList>;
