import type { CheckDetectionDeps } from '../../detection/detections/check-detection.ts';
import { buildDefinition } from '../../detection/detections/record/build-detection.ts';
import type { CreateDetection } from '../../detection/detections/record/detection-input.schema.ts';
import type { Definition } from '../../detection/detections/record/detection-record.ts';
import type { Evidence, Estimate } from '../../detection/detections/record/detection.schema.ts';
import type { TestCase } from '../../detection/detections/test-cases.schema.ts';
import {
  type DatasetNames,
  type LibraryEntry,
  loadLibrary,
  toShippedFields,
} from '../../detection/library/load-library.ts';
import { readQuerySources } from '../../detection/log-query/search/inspect-query.ts';
import { toTestSet, withoutTests } from '../../detection/managed/file-fields.ts';
import { estimateNoise } from '../../detection/testing/estimate-cost.ts';
import { describeMismatch, type RunTestsDeps, testDefinition } from '../../detection/testing/run-test-set.ts';
import { type TrialDeps, toQueryError } from '../../detection/testing/simulate-time-range.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
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

export type ValidateDraftDeps = TrialDeps & RunTestsDeps & Pick<CheckDetectionDeps, 'checkQuery'>;

/** The expected noise of a draft, or the reason why it cannot be used. */
type DraftValidation = { estimate: Estimate } | { reason: string };

/** Runs a draft's query on the organization's logs or connected SIEM, and its tests on their events. */
export async function validateDraft(
  deps: ValidateDraftDeps,
  caller: Caller,
  { body, tests }: Pick<DetectionDraft, 'body' | 'tests'>,
): Promise<DraftValidation> {
  const { orgId } = caller;
  try {
    const definition = buildDefinition(caller, body, deps.clock());
    const subject = { orgId, detectionId: uuidv7(deps.clock()), definition };
    const isLogStore = definition.siemType === null;
    if (isLogStore) await readQuerySources(deps, orgId, body.detectionQuery, AbortSignal.timeout(10_000));
    const check = await deps.checkQuery?.(orgId, definition, body.detectionQuery);
    const unknown = check?.warnings.find(({ code }) => code === 'unknown_column');
    if (unknown) return { reason: unknown.detail };
    const problem = isLogStore ? undefined : await findRowProblem(deps, orgId, definition);
    if (problem !== undefined) return { reason: problem };
    const { results } = await testDefinition(deps, subject, { tests }, { judge: 'analyst' });
    const failed = results.find(({ passed }) => !passed);
    if (failed) return { reason: `The test “${failed.name}” fails: ${describeMismatch(failed)}` };
    const estimate = await estimateNoise(deps, subject);
    return estimate ? { estimate } : { reason: 'The query reads a dataset that has no past events.' };
  } catch (error) {
    const queryError = toQueryError(error);
    if (
      queryError instanceof AppError &&
      (queryError.code === 'check_failed' || queryError.code === 'validation_failed')
    )
      return { reason: queryError.message };
    throw queryError;
  }
}

const trialMs = 60_000;
const dayMs = 86_400_000;

/** Runs a query over the last day of a SIEM and checks its columns, which tests cannot do for a SIEM. Returns the problem, if any. */
async function findRowProblem(
  deps: ValidateDraftDeps,
  orgId: OrgId,
  definition: Definition,
): Promise<string | undefined> {
  const now = deps.clock();
  const window = { from: new Date(now.getTime() - dayMs), to: now, clock: 'event' as const, ingestedBefore: now };
  const limits = { rowsMax: 100, groupsMax: 100, timeoutMs: trialMs / 2 };
  const signal = AbortSignal.timeout(trialMs);
  const connection = await deps.connectionFor(orgId, definition);
  try {
    const { rows, noData } = await connection.search(definition.detectionQuery, window, limits, signal);
    if (noData) return 'The query reads a dataset that does not exist.';
    const { entityField } = definition;
    return entityField === null || rows.every((row) => entityField in row)
      ? undefined
      : `The query returns no column ${entityField}.`;
  } catch (error) {
    if (signal.aborted) return `The query takes more than ${trialMs / 1000} s for one day.`;
    throw error;
  }
}
