import { z } from 'zod';
import { detectionCategories } from '../analysis/registry.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { isDatasetName } from '../log-store/catalog/catalog.ts';
import { FieldDiff } from '../managed/file-fields.ts';

export const librarySeverities = ['low', 'medium', 'high', 'critical'] as const;

/** The `library` block of a shipped detection's file: what a reader needs to choose it. */
export const LibraryBlock = z.strictObject({
  logSource: z.strictObject({
    product: boundedString({ min: 1, max: 50 }).describe('Product that writes the logs, such as `windows` or `okta`.'),
    service: boundedString({ min: 1, max: 100 }).describe('Part of the product, such as `process creation`.'),
    setup: boundedString({ min: 1, max: 500 })
      .optional()
      .describe('What has to be turned on so that the logs contain the events.'),
  }),
  datasets: z
    .record(z.string().refine(isDatasetName, 'is not a dataset name'), z.array(boundedString({ min: 1 })).min(1))
    .refine((datasets) => Object.keys(datasets).length > 0, 'must name a dataset')
    .describe('The datasets that the query reads, with the fields that it cannot do without.'),
  severity: z.enum(librarySeverities).describe('The highest severity that the query assigns.'),
  noise: boundedString({ min: 1, max: 1000 }).describe('Benign causes and how often to expect them.'),
  references: z.array(z.url({ protocol: /^https$/ })).min(1),
});
export type LibraryBlock = z.infer<typeof LibraryBlock>;

const idsMax = 500;

const DatasetNames = z
  .record(z.string().max(63), z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'is not a dataset name'))
  .describe('Your names of the datasets that the library reads, such as `{"windows": "winlogbeat"}`.');

const Ids = z.array(z.string().min(1).max(100)).min(1).max(idsMax);

export const InstallRequest = z.strictObject({
  ids: Ids.describe('Ids of the library.'),
  datasets: DatasetNames.optional(),
  connectionId: z
    .guid('must be a UUID')
    .toLowerCase()
    .optional()
    .describe(
      'Connection whose SIEM the detections query. Its setting `datasets` says where their datasets are. Default: the embedded store.',
    ),
  dryRun: z.boolean().optional().describe('true: report the results without changing anything.'),
});
export type InstallRequest = z.infer<typeof InstallRequest>;

export const UpdateRequest = z.strictObject({
  ids: Ids.optional().describe('Ids of the library. Default: every installed detection that has a new version.'),
  dryRun: z.boolean().optional().describe('true: report the results without changing anything.'),
});
export type UpdateRequest = z.infer<typeof UpdateRequest>;

const LibraryDetection = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  category: z.enum(detectionCategories),
  severity: z.enum(librarySeverities),
  techniques: z.array(z.string()),
  tags: z.array(z.string()),
  noise: z.string(),
  references: z.array(z.string()),
  version: z.string().describe('Changes with every change of the shipped detection.'),
  datasets: z.array(
    z.object({
      name: z.string().describe("The library's name of the dataset."),
      dataset: z.string().describe('Your name of it: as installed, else the same.'),
      isPresent: z.boolean().describe('The dataset has had events.'),
      fields: z.array(z.object({ name: z.string(), isPresent: z.boolean().describe('An event has had the field.') })),
    }),
  ),
  isReady: z.boolean().describe('Your logs have every dataset and field that the detection needs.'),
  installed: z
    .object({
      detectionId: z.string(),
      version: z.string(),
      isCurrent: z.boolean().describe('false: `POST /api/detections/library/update` brings a new version.'),
      editedFields: z.array(z.string()).describe('Fields that you changed since. An update keeps them.'),
    })
    .nullable(),
});
export type LibraryDetection = z.infer<typeof LibraryDetection>;

export const LibraryList = z.object({
  total: z.int(),
  logSources: z.array(
    z.object({
      product: z.string(),
      service: z.string(),
      setup: z.array(LibraryBlock.shape.logSource.shape.setup.unwrap()).describe('What has to be turned on.'),
      isReady: z.boolean().describe('Your logs have what at least one of its detections needs.'),
      detections: z.array(LibraryDetection),
    }),
  ),
});
export type LibraryList = z.infer<typeof LibraryList>;

export const InstallResult = z.object({
  dryRun: z.boolean(),
  results: z.array(
    z.object({
      id: z.string(),
      outcome: z.enum(['installed', 'unchanged', 'failed']).describe('`unchanged`: it was installed already.'),
      detectionId: z.string().nullable(),
      detail: z.string().nullable().describe('Why it failed, or what your logs lack for it.'),
    }),
  ),
});
export type InstallResult = z.infer<typeof InstallResult>;

export const UpdateResult = z.object({
  dryRun: z.boolean(),
  results: z.array(
    z.object({
      id: z.string(),
      outcome: z.enum(['updated', 'unchanged', 'failed']),
      detectionId: z.string().nullable(),
      detail: z.string().nullable(),
      changes: z.array(FieldDiff).describe('What the new version changes in your detection.'),
      kept: z
        .array(FieldDiff)
        .describe('What the new version would change, but you edited: `before` is yours and stays.'),
    }),
  ),
});
export type UpdateResult = z.infer<typeof UpdateResult>;
