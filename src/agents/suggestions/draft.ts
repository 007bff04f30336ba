import type { CreateDetection } from '../../detection/detections/record/detection-input.schema.ts';
import type { Evidence } from '../../detection/detections/record/detection.schema.ts';
import type { TestCase } from '../../detection/detections/test-cases.schema.ts';
import {
  type DatasetNames,
  type LibraryEntry,
  loadLibrary,
  toShippedFields,
} from '../../detection/library/load-library.ts';
import { toTestSet, withoutTests } from '../../detection/managed/file-fields.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { LogDataset } from './log-kinds.ts';

/** The kinds of source that a draft is built from. */
export const draftBases = ['shipped', 'template', 'indicators', 'rule', 'model'] as const;
type DraftBasis = { kind: (typeof draftBases)[number]; id: string };

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

/** A draft with the reason for suggesting it and the feed items behind it. */
export type Proposal = DetectionDraft & { rationale: string; sourceItemIds: string[]; evidence: Evidence[] };

const passageMaxChars = 500;

/** Adds the rationale to a draft: the reason, the item's title and publisher, and the cited passage with its reference. */
export function toProposal(draft: DetectionDraft, item: FeedItem, reason: string, evidenceRef?: string): Proposal {
  const passage = evidenceRef === undefined ? undefined : findPassage(item, evidenceRef);
  const quoted = passage === undefined ? '' : ` It says: “${[...passage].slice(0, passageMaxChars).join('')}”`;
  return {
    ...draft,
    rationale: `${reason} “${item.event.title}” (${item.source.publisher}).${quoted}`,
    sourceItemIds: [item.id],
    evidence: passage === undefined ? [] : [{ itemId: item.id, evidenceRef: evidenceRef! }],
  };
}

function findPassage(item: FeedItem, evidenceRef: string): string | undefined {
  const index = /\[(\d+)\]$/.exec(evidenceRef)?.[1];
  return index === undefined ? undefined : item.provenance.supportingPassages[Number(index)]?.text;
}

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
