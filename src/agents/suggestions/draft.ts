import type { CreateDetection } from '../../detection/detections/record/detection-input.ts';
import type { TestCase } from '../../detection/detections/test-cases/test-cases.schema.ts';

/** What a draft was made of. */
export const bases = ['shipped', 'template', 'indicators', 'model'] as const;
export type Basis = { kind: (typeof bases)[number]; id: string };

/** A detection that could be proposed. Drafts of one `key` are look-alikes whatever their text; `reads` names a dataset, for people. */
export type Draft = {
  key: string;
  basis: Basis;
  technique: string | null;
  reads: string;
  body: CreateDetection;
  tests: TestCase[];
};
