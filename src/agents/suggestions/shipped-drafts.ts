import type { CreateDetection } from '../../detection/detections/record/detection-input.schema.ts';
import {
  type DatasetNames,
  type LibraryEntry,
  loadLibrary,
  toShippedFields,
} from '../../detection/library/load-library.ts';
import { toTestSet, withoutTests } from '../../detection/managed/file-fields.ts';
import type { DetectionDraft } from './draft.ts';
import type { LogDataset } from './log-kinds.ts';

/** Returns the shipped detections whose datasets all exist. */
export function listReadableDetections(datasets: readonly LogDataset[]): LibraryEntry[] {
  const names = new Set(datasets.map(({ name }) => name));
  return [...loadLibrary().values()].filter((entry) => Object.keys(entry.datasets).every((name) => names.has(name)));
}

/** Returns a draft of a shipped detection for one of its techniques. `datasets` are the organization's names of those that it reads. */
export function draftShippedDetection(
  entry: LibraryEntry,
  technique: string | null,
  datasets: DatasetNames = {},
): DetectionDraft {
  const [first] = Object.keys(entry.datasets);
  const isRenamed = Object.keys(datasets).length > 0;
  const fields = isRenamed ? toShippedFields(entry, { datasets }) : undefined;
  return {
    key: `shipped:${entry.id}`,
    basis: { kind: 'shipped', id: entry.id },
    technique,
    reads: datasets[first!] ?? first!,
    body: fields ? (withoutTests(fields) as CreateDetection) : entry.body,
    tests: fields ? toTestSet(fields).tests : entry.tests.tests,
  };
}
