import type { TestCase, TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { addObservedFields, type FieldsByDataset } from '../logs/query/fixture-store.ts';
import { createTrialRun } from '../runs/execution/trial-run.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { ActiveRun } from '../runs/execution/active-run.ts';
import {
  groupByDataset,
  findTestDatasets,
  runTestCase,
  type TestCaseDeps,
  type TestCaseInput,
  type TestSubject,
} from './run-test-case.ts';
import { SiemError, type SiemConnection } from '../siem/connector.ts';
import type { TestResult, TestRun } from './testing.schema.ts';

const timeMsMax = 90_000;

/** What a tool of the judge may ask of a SIEM while tests run: nothing, since their events are all there is. */
const nothingElse: SiemConnection = {
  clock: 'event',
  delayMs: 0,
  search: () =>
    Promise.reject(
      new SiemError({
        kind: 'query_not_allowed',
        blame: 'author',
        retryable: false,
        message: 'Tests see their own events alone.',
      }),
    ),
  check: () => Promise.resolve(),
  fields: () => Promise.resolve([]),
  ping: () => Promise.resolve(),
};

/** `columnsOf`: the columns that datasets have beside those that the tests' events show. `judgeOf`: who judges; none, the analyst. */
type Surroundings = {
  columnsOf: (datasets: string[]) => Promise<FieldsByDataset>;
  judgeOf?: (run: ActiveRun) => Judge;
};

/** Whether a detection's query is one of another SIEM, whose rows the events of its tests stand for. */
export function hasForeignQuery(
  { orgId, definition }: Pick<TestSubject, 'orgId' | 'definition'>,
  { localQuery }: TestSet,
): boolean {
  const { siemType, connectionId } = definition;
  const isLocal =
    connectionId === null ? ['local', null].includes(siemType?.toLowerCase() ?? null) : connectionId === orgId;
  return !isLocal && (localQuery ?? null) === null;
}

/** What the tests of a detection run: its definition with the query that the embedded engine can run. */
export function withLocalQuery(tested: TestSubject, { localQuery }: TestSet): TestSubject {
  return localQuery ? { ...tested, definition: { ...tested.definition, detectionQuery: localQuery } } : tested;
}

/** Runs a detection's test cases one by one, all as one run, over their events alone. Stores nothing, needs no database; ends after 90 seconds. */
export async function runTestSet(
  deps: TestCaseDeps,
  given: TestSubject,
  set: TestSet,
  { columnsOf, judgeOf }: Surroundings,
): Promise<TestRun> {
  const isForeign = hasForeignQuery(given, set);
  const tested = withLocalQuery(given, set);
  const run = createTrialRun(tested, { connection: nothingElse, clock: 'event', model: 'analyst', at: deps.clock() });
  const signal = AbortSignal.timeout(timeMsMax);
  const common = { run, isForeign, signal, ...(judgeOf ? { judge: judgeOf(run) } : {}) };
  const results: TestResult[] = [];
  try {
    const datasets = await findTestDatasets(deps, { ...tested, isForeign }, signal);
    const columns = set.tests.reduce(
      (seen, test) => addCaseFields(seen, test, datasets),
      isForeign ? new Map() : await columnsOf(datasets),
    );
    for (const test of set.tests) results.push(await resultOf(deps, { ...common, columns, test }));
  } catch (error) {
    for (const test of set.tests) results.push(failed(test, error));
  }
  return {
    passed: results.length > 0 && results.every(({ passed }) => passed),
    queryTested: !isForeign,
    model: run.model,
    tokens: run.spent.tokens,
    costUsd: run.spent.costUsd,
    results,
  };
}

/** The columns that the events of a case add. A case whose events fit no dataset fails by itself. */
export function addCaseFields(
  seen: FieldsByDataset,
  { events, history }: TestCase,
  datasets: string[],
): FieldsByDataset {
  try {
    return addObservedFields(
      addObservedFields(seen, groupByDataset(history ?? [], datasets)),
      groupByDataset(events, datasets),
    );
  } catch {
    return seen;
  }
}

async function resultOf(deps: TestCaseDeps, input: TestCaseInput): Promise<TestResult> {
  const { expected, ...none } = failed(input.test, undefined);
  const began = performance.now();
  const ms = (): number => Math.round((performance.now() - began) * 10) / 10;
  try {
    const found = await runTestCase(deps, input);
    const missing = expected.filter((entity) => !found.includes(entity));
    const unexpected = found.filter((entity) => !expected.includes(entity));
    const passed = missing.length + unexpected.length === 0;
    return { ...none, expected, passed, found, missing, unexpected, error: null, ms: ms() };
  } catch (error) {
    return { ...failed(input.test, error), ms: ms() };
  }
}

function failed({ name, expect }: TestCase, error: unknown): TestResult {
  const expected = [...new Set(expect)].toSorted();
  const message = error instanceof Error ? error.message : String(error);
  return { name, passed: false, expected, found: [], missing: expected, unexpected: [], error: message, ms: 0 };
}

/** What is wrong with a result, in words. */
export const describeMismatch = ({ error, missing, unexpected }: TestResult): string =>
  error ??
  [
    missing.length > 0 ? `missing ${missing.join(', ')}` : '',
    unexpected.length > 0 ? `not expected ${unexpected.join(', ')}` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
