import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError, type FieldError } from '../../platform/lib/errors.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import type { TestCase, TestSet } from '../detections/test-cases.schema.ts';
import { findTests } from '../detections/test-cases.store.ts';
import { listRuleLists } from '../analysis/severity-rules.ts';
import type { Definition } from '../detections/record/detection-record.ts';
import { readListTests, readValueLists } from '../value-lists/value-lists.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Simulation } from './simulate.ts';
import type { Candidate } from '../analysis/candidate.ts';
import type { LogEngine } from '../log-engine/process/engine.ts';
import { addObservedFields } from '../log-query/search/fixture-store.ts';
import { readQuerySources } from '../log-query/search/inspect-query.ts';
import type { FieldsByDataset } from '../log-store/catalog/catalog.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { JudgeDeps } from '../runs/judging/model/model-judge.ts';
import { createTrialJudge } from '../runs/judging/trial-judge.ts';
import { type ActiveRun, createTrialRun } from '../runs/run-model/active-run.ts';
import { selectsLogStore, type SiemConnection, SiemError } from '../siem/connector.ts';
import { isPortableQuery } from '../siem/query-text.ts';
import {
  groupByDataset,
  runTestCase,
  type TestCaseDeps,
  type TestCaseInput,
  type TestSubject,
} from './run-test-case.ts';
import type { TestQuery, TestResult, TestRun } from './testing.schema.ts';

const timeMsMax = 90_000;

/** The connection of test runs. The judge's tools cannot query a SIEM, because tests only use their own events. */
export const testConnection: SiemConnection = {
  clock: 'event',
  delayMs: 0,
  search: () =>
    Promise.reject(
      new SiemError({
        kind: 'query_not_allowed',
        blame: 'author',
        retryable: false,
        message: 'A test cannot query a SIEM. It only has its own events.',
      }),
    ),
  check: () => Promise.resolve(),
  fields: () => Promise.resolve([]),
  ping: () => Promise.resolve(),
};

type TestLists = Pick<Simulation, 'allowLists' | 'ruleLists'>;

/** Returns the value lists by which the tuning of a detection mutes and rates findings. A query reads its own. */
export async function readTestLists(tx: Tx, orgId: OrgId, { tuning }: Pick<Definition, 'tuning'>): Promise<TestLists> {
  return {
    allowLists: await readValueLists(tx, orgId, tuning?.allowLists ?? []),
    ruleLists: await readListTests(tx, orgId, listRuleLists(tuning)),
  };
}

type TestSetOptions = {
  /** Without it, the built-in analyst gives the verdicts. */
  createJudge?: (run: ActiveRun) => Judge;
  /** The value lists of the tuning. Without them, nothing is in a list. */
  lists?: TestLists;
  /** Called with the candidates of a case that are about entities that it expects. */
  onExpected?: (candidates: Candidate[]) => void;
};

/** Returns whether a detection's query is written for another SIEM and there is no local query for its tests. */
function hasForeignQuery({ orgId, definition }: TestSubject, { localQuery }: TestSet): boolean {
  if (selectsLogStore(orgId, definition) || isPortableQuery(definition.detectionQuery)) return false;
  return (localQuery ?? null) === null;
}

/** Returns the datasets of a test set's events: those that its query reads, or `rows` if the query is written for another SIEM. */
async function findTestDatasets(
  deps: { engine: LogEngine },
  subject: TestSubject,
  set: TestSet,
  signal: AbortSignal,
): Promise<string[]> {
  if (hasForeignQuery(subject, set)) return ['rows'];
  const query = set.localQuery || subject.definition.detectionQuery;
  return (await readQuerySources(deps, subject.orgId, query, signal)).datasets;
}

/**
 * Runs a detection's test cases in order, as one run. Its datasets have the fields of the cases' own events and no others, so the results
 * are the same everywhere. A column that no event has is null, with a warning. Stores nothing and needs no database. Takes at most 90 seconds.
 */
export async function runTestSet(
  deps: TestCaseDeps,
  subject: TestSubject,
  set: TestSet,
  { createJudge, lists = {}, onExpected }: TestSetOptions = {},
): Promise<TestRun> {
  const isForeignQuery = hasForeignQuery(subject, set);
  const definition = { ...subject.definition, detectionQuery: set.localQuery || subject.definition.detectionQuery };
  const run = createTrialRun(
    { ...subject, definition },
    { connection: testConnection, clock: 'event', model: 'analyst', at: deps.clock() },
  );
  const signal = AbortSignal.timeout(timeMsMax);
  const judge = createJudge?.(run);
  const results: TestResult[] = [];
  try {
    const datasets = await findTestDatasets(deps, subject, set, signal);
    const fields = listTestFields(set, datasets);
    const common = { run, datasets, isForeignQuery, fields, lists, signal, ...(judge ? { judge } : {}) };
    for (const test of set.tests) results.push(await runForResult(deps, { ...common, test }, onExpected));
  } catch (error) {
    for (const test of set.tests) results.push(toFailedResult(test, error));
  }
  return {
    passed: results.length > 0 && results.every(({ passed }) => passed),
    queryTested: !isForeignQuery,
    model: run.model,
    tokens: run.spent.tokens,
    costUsd: run.spent.costUsd,
    warnings: run.progress.warnings,
    results,
  };
}

/** Returns the fields of the test cases' events. Skips a case whose events cannot be assigned to a dataset, because it fails anyway. */
function listTestFields({ tests }: TestSet, datasets: string[]): FieldsByDataset {
  return tests.reduce<FieldsByDataset>((merged, { history, events }) => {
    try {
      const withHistory = addObservedFields(merged, groupByDataset(history ?? [], datasets));
      return addObservedFields(withHistory, groupByDataset(events, datasets));
    } catch {
      return merged;
    }
  }, new Map());
}

async function runForResult(
  deps: TestCaseDeps,
  input: TestCaseInput,
  onExpected: TestSetOptions['onExpected'],
): Promise<TestResult> {
  const { name, expect } = input.test;
  const expected = [...new Set(expect)].toSorted();
  const began = performance.now();
  const elapsedMs = (): number => Math.round((performance.now() - began) * 10) / 10;
  try {
    const { found, suppressed, candidates } = await runTestCase(deps, input);
    onExpected?.(candidates.filter(({ entity }) => expected.includes(entity)));
    const missing = expected.filter((entity) => !found.includes(entity));
    const unexpected = found.filter((entity) => !expected.includes(entity));
    const passed = missing.length + unexpected.length === 0;
    return { name, passed, expected, found, missing, unexpected, error: null, suppressed, ms: elapsedMs() };
  } catch (error) {
    return { ...toFailedResult(input.test, error), ms: elapsedMs() };
  }
}

function toFailedResult({ name, expect }: TestCase, error: unknown): TestResult {
  const expected = [...new Set(expect)].toSorted();
  const message = error instanceof Error ? error.message : String(error);
  return { name, passed: false, expected, found: [], missing: expected, unexpected: [], error: message, ms: 0 };
}

/** Describes why a test failed, for people: the error, or the missing and unexpected entities and what was not judged. */
export const describeMismatch = ({ error, missing, unexpected, suppressed }: TestResult): string =>
  error ??
  [
    missing.length > 0 ? `missing ${missing.join(', ')}` : '',
    unexpected.length > 0 ? `not expected ${unexpected.join(', ')}` : '',
    ...Object.entries(suppressed ?? {}).map(([reason, count]) => (count > 0 ? `not judged (${reason}): ${count}` : '')),
  ]
    .filter((part) => part !== '')
    .join('; ');

export type RunTestsDeps = TestCaseDeps & JudgeDeps;

/** Runs a detection's test cases through query, analysis and verdict, on their own events only. Stores nothing except the model usage. */
export async function runTests(
  deps: RunTestsDeps,
  caller: Caller,
  detectionId: string,
  options: TestQuery,
): Promise<TestRun> {
  const key = { orgId: caller.orgId, detectionId };
  const { definition, set } = await inOrg(deps.db, caller.orgId, async (tx) => {
    const active = await findDefinition(tx, caller.orgId, detectionId);
    if (!active) throw appError('not_found', `Detection ${detectionId} not found.`);
    return { definition: active, set: await findTests(tx, key) };
  });
  return testDefinition(deps, { ...key, definition }, set, options);
}

/** Runs test cases against a definition, whether it is stored or not. */
export async function testDefinition(
  deps: RunTestsDeps,
  subject: TestSubject,
  set: TestSet,
  { judge }: TestQuery,
): Promise<TestRun> {
  const lists = await inOrg(deps.db, subject.orgId, (tx) => readTestLists(tx, subject.orgId, subject.definition));
  const options = judge === 'analyst' ? {} : { createJudge: (run: ActiveRun) => createTrialJudge(deps, run) };
  return runTestSet(deps, subject, set, { ...options, lists });
}

/** Runs the stored tests of a detection against a definition. Returns one error per failed test, or an error if there are no tests. */
export async function findTestErrors(deps: RunTestsDeps, subject: TestSubject): Promise<FieldError[]> {
  const set = await inOrg(deps.db, subject.orgId, (tx) => findTests(tx, subject));
  if (set.tests.length === 0) {
    const detail = 'The detection has no tests. Add some with PUT /api/detections/{id}/tests.';
    return [{ pointer: '', code: 'no_tests', detail }];
  }
  const { results } = await testDefinition(deps, subject, set, {});
  return results
    .filter(({ passed }) => !passed)
    .map((result) => ({
      pointer: '',
      code: 'test_failed',
      detail: `Test "${result.name}": ${describeMismatch(result)}`,
    }));
}
