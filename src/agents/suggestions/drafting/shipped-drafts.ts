import { listTechniqueIds, type LibraryEntry } from '../../../detection/library/library-entry.ts';
import { loadLibrary } from '../../../detection/library/load-library.ts';
import type { DetectionDraft } from '../draft.ts';
import type { LogDataset } from './log-kinds.ts';

/** Returns the shipped detections whose datasets all exist. */
export function listReadableDetections(datasets: readonly LogDataset[]): LibraryEntry[] {
  const names = new Set(datasets.map(({ name }) => name));
  return [...loadLibrary().values()].filter((entry) => Object.keys(entry.datasets).every((name) => names.has(name)));
}

/** Returns the shipped detections for any of some techniques. */
export const listDetectionsFor = (techniques: readonly string[]): LibraryEntry[] =>
  [...loadLibrary().values()].filter((entry) => listTechniqueIds(entry).some((id) => techniques.includes(id)));

/** Returns a draft of a shipped detection for one of its techniques. */
export const draftShippedDetection = (entry: LibraryEntry, technique: string | null): DetectionDraft => ({
  key: `shipped:${entry.id}`,
  basis: { kind: 'shipped', id: entry.id },
  technique,
  reads: Object.keys(entry.datasets)[0]!,
  body: entry.body,
  tests: entry.tests.tests,
});
