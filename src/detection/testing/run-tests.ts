import { inOrg } from '../../platform/db/db.ts';
import { appError, type FieldError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';
import { findTests } from '../detections/test-cases.store.ts';
import type { ActiveRun } from '../runs/run-model/active-run.ts';
import type { JudgeDeps } from '../runs/judging/model/model-judge.ts';
import { createTrialJudge } from '../runs/judging/trial-judge.ts';
import type { TestCaseDeps, TestSubject } from './run-test-case.ts';
import { describeMismatch, runTestSet } from './run-test-set.ts';
import type { TestQuery, TestRun } from './testing.schema.ts';

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
export function testDefinition(
  deps: RunTestsDeps,
  subject: TestSubject,
  set: TestSet,
  { judge }: TestQuery,
): Promise<TestRun> {
  const options = judge === 'analyst' ? {} : { createJudge: (run: ActiveRun) => createTrialJudge(deps, run) };
  return runTestSet(deps, subject, set, options);
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
