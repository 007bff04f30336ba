import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { runInSlices, startSlices } from '../../platform/lib/concurrency/slices.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import {
  compileExceptions,
  countRows,
  namesOfLists,
  type ExceptionRule,
  type ExceptionSubject,
} from '../analysis/exceptions.ts';
import type { DetectionKey } from '../scheduling/timeline.ts';
import type { ExceptionProposals, ProposeExceptions } from '../detections/exceptions/exceptions.schema.ts';
import {
  listActiveExceptions,
  listPastCandidates,
  listPastHits,
  type PastCandidate,
  type PastHit,
} from '../detections/exceptions/exceptions.store.ts';
import {
  chooseSimilar,
  listNarrowings,
  type Narrowing,
  type PastFinding,
} from '../detections/exceptions/narrowings.ts';
import { countByStatus, toPreviewedHits } from '../detections/exceptions/preview-exception.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import { findTests } from '../detections/test-cases.store.ts';
import { listValueLists, readListTests } from '../value-lists/value-lists.store.ts';
import { readTestLists, runTestSet, type RunTestsDeps } from './run-test-set.ts';

const hitsMax = 1000;
const candidatesMax = 500;
const listsMax = 50;
const chosenMax = 50;

/** A finding of the past, with its hit if it became one. */
type Finding = PastFinding & { hit: PastHit | null; createdAt: Date };

/** Repeats the rehearsed attacks on which a detection fired, and returns what it finds in each now. */
export type RepeatRehearsals = (key: DetectionKey) => Promise<{ technique: string; findings: ExceptionSubject[] }[]>;

/**
 * Returns exceptions for false positives of a detection, the narrowest first, with what each would have hidden of the stored past and what it keeps.
 * Runs the test cases of the detection with the built-in analyst, and repeats the rehearsals on which it fired. Throws 400 if a hit is not of the detection or was judged a true positive.
 */
export async function proposeExceptions(
  deps: RunTestsDeps & { repeatRehearsals: RepeatRehearsals },
  { orgId }: Caller,
  detectionId: string,
  { hitIds }: ProposeExceptions,
): Promise<ExceptionProposals> {
  const key = { orgId, detectionId };
  const now = deps.clock();
  const stored = await inOrg(deps.db, orgId, async (tx) => {
    const definition = await findDefinition(tx, orgId, detectionId);
    if (!definition) throw appError('not_found', `Detection ${detectionId} not found.`);
    const names = (await listValueLists(tx, orgId)).slice(0, listsMax).map(({ name }) => name);
    const exceptions = await listActiveExceptions(tx, key, now);
    return {
      definition,
      exceptions,
      set: await findTests(tx, key),
      testLists: await readTestLists(tx, orgId, definition),
      hits: await listPastHits(tx, key, { ids: hitIds ?? [], limit: hitsMax + 1 }),
      candidates: await listPastCandidates(tx, key, candidatesMax + 1),
      lists: await readListTests(tx, orgId, [...names, ...exceptions.flatMap(namesOfLists)]),
    };
  });
  const { lists } = stored;
  const all = await parseFindings(stored.hits.slice(0, hitsMax), stored.candidates.slice(0, candidatesMax));
  const isMuted = compileExceptions(stored.exceptions, lists);
  const chosen = hitIds
    ? findHits(all, hitIds)
    : chooseFalsePositives(
        all.filter((one) => !isMuted(one)),
        all,
      );
  const past = all.map((finding) => ({ ...finding, isChosen: chosen.has(finding) }));
  const expected: ExceptionSubject[] = [];
  const onExpected = (found: ExceptionSubject[]): void => void expected.push(...found);
  const { results } = await runTestSet(deps, { ...key, definition: stored.definition }, stored.set, {
    lists: stored.testLists,
    onExpected,
  });
  const tests = results.filter((result) => result.expected.length > 0);
  const doNotFire = tests.filter(({ missing }) => missing.length > 0).map(({ name }) => name);
  const fire = tests.length - doNotFire.length;
  const rehearsed = chosen.size === 0 ? [] : await deps.repeatRehearsals(key);
  const [silent, fired] = [false, true].map((fires) =>
    rehearsed.filter(({ findings }) => findings.length > 0 === fires),
  );
  const proofs = [...expected.map((finding) => [finding]), ...fired!.map(({ findings }) => findings)];
  const narrowings = await runInSlices(listNarrowings(past, { proofs, lists }));
  const kept = { tests: fire, rehearsals: fired!.length };
  const proposals = narrowings.map((narrowing) => toProposal(narrowing, past, kept));
  const oldest = Math.min(...past.map(({ createdAt }) => createdAt.getTime()));
  return {
    hitIds: [...chosen].flatMap(({ hit }) => hit?.id ?? []),
    from: past.length === 0 ? null : new Date(oldest).toISOString(),
    findings: past.length,
    isComplete: stored.hits.length <= hitsMax && stored.candidates.length <= candidatesMax,
    tests: { fire, doNotFire },
    rehearsals: { fire: toTechniques(fired!), doNotFire: toTechniques(silent!) },
    proposals,
    reason: proposals.length > 0 ? null : explainNone(chosen.size, past.length + proofs.length),
  };
}

const toTechniques = (rehearsed: readonly { technique: string }[]): string[] =>
  rehearsed.map(({ technique }) => technique);

async function parseFindings(hits: readonly PastHit[], candidates: readonly PastCandidate[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const nextSlice = startSlices();
  for (const one of [...hits, ...candidates]) {
    const pause = nextSlice();
    if (pause) await pause;
    const hit = 'status' in one ? one : null;
    const mustStay =
      'status' in one
        ? one.status === 'true_positive' || (one.status === 'open' && one.verdict === 'undecided')
        : one.state === 'review';
    const { entity, createdAt } = one;
    findings.push({
      entity,
      createdAt,
      rows: JSON.parse(one.rows) as Finding['rows'],
      facts: JSON.parse(one.facts) as Finding['facts'],
      hit,
      mustStay,
      isChosen: false,
    });
  }
  return findings;
}

/** Returns the findings of hits. One that a judge left undecided may be hidden if it was chosen. */
function findHits(all: readonly Finding[], hitIds: readonly string[]): Set<Finding> {
  const chosen = hitIds.map((id, index) => {
    const finding = all.find(({ hit }) => hit?.id === id);
    if (!finding) throw fieldError(`/hitIds/${index}`, 'unknown', `The detection has no hit ${id}.`);
    if (finding.hit?.status === 'true_positive')
      throw fieldError(`/hitIds/${index}`, 'true_positive', `Hit ${id} was judged a true positive.`);
    return finding;
  });
  for (const finding of chosen) finding.mustStay = false;
  return new Set(chosen);
}

function chooseFalsePositives(unmuted: readonly Finding[], all: readonly Finding[]): Set<Finding> {
  const isFalse = ({ hit }: Finding): boolean => hit?.status === 'false_positive';
  const found = unmuted.filter(isFalse).slice(0, chosenMax);
  if (found.length === 0) return new Set();
  const others = all.filter((one) => !isFalse(one));
  return new Set(chooseSimilar(found, others));
}

function toProposal(
  { rule, hidden, coverage }: Narrowing<Finding>,
  past: readonly Finding[],
  kept: { tests: number; rehearsals: number },
): ExceptionProposals['proposals'][number] {
  const hits = hidden.flatMap(({ hit }) => hit ?? []).toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
  const truePositives = past.filter(({ hit }) => hit?.status === 'true_positive').length;
  return {
    exception: toSubject(rule),
    hides: {
      findings: hidden.length,
      others: hidden.filter(({ isChosen }) => !isChosen).length,
      rows: hidden.reduce((sum, finding) => sum + countRows(finding), 0),
      byStatus: countByStatus(hits),
      hits: toPreviewedHits(hits),
    },
    keeps: { truePositives, undecided: past.filter(({ mustStay }) => mustStay).length - truePositives, ...kept },
    coverage,
  };
}

/** Returns a rule as the body of a request that creates the exception. */
const toSubject = ({ entity, field, value, list, conditions }: ExceptionRule) => ({
  ...(entity !== null && { entity }),
  ...(field !== null && { field }),
  ...(value !== null && { value }),
  ...(list !== null && { list }),
  ...(conditions.length > 0 && { conditions: [...conditions] }),
});

function explainNone(chosen: number, compared: number): string {
  if (chosen === 0)
    return 'No hit of the detection that an exception does not cover already was judged a false positive.';
  if (chosen === compared)
    return 'The hits are about different entities, and there is no other finding of the detection to compare them with.';
  return 'The hits share nothing that tells them from the true positives, the undecided findings, the tests and the rehearsed attacks of the detection. Choose fewer hits, or change the query.';
}
