import type { CreateDetection } from '../../detection/detections/record/detection-input.schema.ts';
import type { TestCase } from '../../detection/detections/test-cases/test-cases.schema.ts';

/** The kinds of source that a draft is built from. */
export const draftBases = ['shipped', 'template', 'indicators', 'model'] as const;
export type DraftBasis = { kind: (typeof draftBases)[number]; id: string };

/** A detection that can be suggested. */
export type DetectionDraft = {
  /** Identifies duplicates: two drafts with the same key count as the same suggestion, whatever their text. */
  key: string;
  basis: DraftBasis;
  technique: string | null;
  /** The data that the query reads, for display. */
  reads: string;
  body: CreateDetection;
  tests: TestCase[];
};
