import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { isDatasetName } from '../log-store/catalog/dataset-name.ts';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import type { TestSet } from '../detections/test-cases/test-cases.schema.ts';

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

/** A detection that ships with the project. `id` is the name of its file, `folder` the folder of the file in `library/`. */
export type LibraryEntry = LibraryBlock & { id: string; folder: string; body: CreateDetection; tests: TestSet };

/** Returns the ATT&CK techniques in a detection's tags. */
export const listTechniqueIds = ({ body }: Pick<LibraryEntry, 'body'>): string[] =>
  (body.tags ?? []).filter((tag) => /^attack\.t\d/.test(tag)).map((tag) => tag.slice('attack.'.length).toUpperCase());
