import { builtinDetections } from '../../../detection/built-in/registry.ts';
import type { BuiltinDetection } from '../../../detection/built-in/built-in-detection.ts';
import { bodyOf, testsOf } from '../../../detection/built-in/export-built-in.ts';
import type { Draft } from '../draft.ts';
import type { Dataset } from './log-datasets.ts';

export const allShipped: readonly BuiltinDetection[] = Object.values(builtinDetections);

/** Shipped detections, as far as the organization has the logs they read. */
export function readableShipped(datasets: readonly Dataset[]): BuiltinDetection[] {
  const names = new Set(datasets.map(({ name }) => name));
  return allShipped.filter((one) => datasetsOf(one).every((name) => names.has(name)));
}

const datasetsOf = ({ dataset, alsoReads = [] }: BuiltinDetection): string[] => [dataset, ...alsoReads];

/** Technique ids of a shipped detection, as its tags have them. */
export const techniquesOf = ({ tags }: BuiltinDetection): string[] =>
  tags.filter((tag) => tag.startsWith('attack.')).map((tag) => tag.slice('attack.'.length).toUpperCase());

/** A shipped detection as a draft, for one of its techniques if that is known. */
export const shippedDraft = (detection: BuiltinDetection, technique: string | null): Draft => ({
  key: `shipped:${detection.id}`,
  basis: { kind: 'shipped', id: detection.id },
  technique,
  reads: detection.dataset,
  body: bodyOf(detection),
  tests: testsOf(detection).tests,
});
