import { builtInDetections } from '../../../detection/built-in/registry.ts';
import type { BuiltInDetection } from '../../../detection/built-in/built-in-detection.ts';
import { toBuiltInBody, toBuiltInTests } from '../../../detection/built-in/export-built-in.ts';
import type { DetectionDraft } from '../draft.ts';
import type { LogDataset } from './log-kinds.ts';

export const shippedDetections: readonly BuiltInDetection[] = Object.values(builtInDetections);

/** Returns the shipped detections whose datasets all exist. */
export function listReadableDetections(datasets: readonly LogDataset[]): BuiltInDetection[] {
  const names = new Set(datasets.map(({ name }) => name));
  return shippedDetections.filter((one) => listDatasetNames(one).every((name) => names.has(name)));
}

const listDatasetNames = ({ dataset, alsoReads = [] }: BuiltInDetection): string[] => [dataset, ...alsoReads];

/** Returns the technique IDs in a shipped detection's tags. */
export const listTechniqueIds = ({ tags }: BuiltInDetection): string[] =>
  tags.filter((tag) => tag.startsWith('attack.')).map((tag) => tag.slice('attack.'.length).toUpperCase());

/** Returns a draft of a shipped detection for one of its techniques. */
export const draftShippedDetection = (detection: BuiltInDetection, technique: string | null): DetectionDraft => ({
  key: `shipped:${detection.id}`,
  basis: { kind: 'shipped', id: detection.id },
  technique,
  reads: detection.dataset,
  body: toBuiltInBody(detection),
  tests: toBuiltInTests(detection).tests,
});
