import { inOrg } from '../../platform/db/db.ts';
import { findDefinition } from '../detections/history/revisions.store.ts';
import { findTests } from '../detections/test-cases/test-cases.store.ts';
import type { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { appError, type FieldError } from '../../platform/lib/errors.ts';
import { loadDatasetFields } from '../logs/query/search-logs.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { createTrialJudge } from '../runs/judging/trial-judge.ts';
import type { TestSubject } from './run-test-case.ts';
import type { TrialDeps } from './preview.ts';
import type { TestQuery, TestRun } from './testing.schema.ts';
import { runTestSet, describeMismatch } from './run-test-set.ts';

/** Runs a detection's test cases: query, analysis and verdict, over their events alone. Stores nothing but what a model used up. */
export async function runTests(deps: TrialDeps, caller: Caller, detectionId: string, by: TestQuery): Promise<TestRun> {
  const ref = { orgId: caller.orgId, detectionId };
  const { definition, set } = await inOrg(deps.db, caller.orgId, async (tx) => {
    const found = await findDefinition(tx, caller.orgId, detectionId);
    if (!found) throw appError('not_found', `Detection ${detectionId} not found.`);
    return { definition: found, set: await findTests(tx, ref) };
  });
  return testDefinition(deps, { ...ref, definition }, set, by);
}

/** Runs test cases against a definition, stored or not. */
export function testDefinition(
  deps: TrialDeps,
  tested: TestSubject,
  set: TestSet,
  { judge }: TestQuery,
): Promise<TestRun> {
  return runTestSet(deps, tested, set, {
    columnsOf: (datasets) => loadDatasetFields(deps, tested.orgId, datasets),
    ...(judge === 'analyst' ? {} : { judgeOf: (run) => createTrialJudge(deps, run) }),
  });
}

/** For a save that depends on its tests: what is wrong with them, empty where all pass. */
export async function findTestErrors(deps: TrialDeps, tested: TestSubject): Promise<FieldError[]> {
  const set = await inOrg(deps.db, tested.orgId, (tx) => findTests(tx, tested));
  if (set.tests.length === 0)
    return [{ pointer: '', code: 'no_tests', detail: 'The detection has no tests; PUT …/tests gives it some.' }];
  const { results } = await testDefinition(deps, tested, set, {});
  return results
    .filter(({ passed }) => !passed)
    .map((result) => ({
      pointer: '',
      code: 'test_failed',
      detail: `Test "${result.name}": ${describeMismatch(result)}`,
    }));
}
