import { inOrg } from '../db/db.ts';
import type { Definition } from '../detections/definition.ts';
import { findDefinition } from '../detections/revision-store.ts';
import { findTests } from '../detections/test-store.ts';
import type { TestCase, TestSet } from '../detections/test-schema.ts';
import { appError, type FieldError } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Caller } from '../orgs/caller.ts';
import { runCase } from './case.ts';
import type { ProofDeps } from './preview.ts';
import type { TestResult, TestRun } from './schema.ts';

type Tested = { orgId: OrgId; detectionId: string; definition: Definition };
const timeMsMax = 90_000;

/** Runs a detection's test cases: query, analysis and verdict, over their events alone. Stores nothing. */
export async function runTests(deps: ProofDeps, caller: Caller, detectionId: string): Promise<TestRun> {
  const ref = { orgId: caller.orgId, detectionId };
  const { definition, set } = await inOrg(deps.db, caller.orgId, async (tx) => {
    const found = await findDefinition(tx, caller.orgId, detectionId);
    if (!found) throw appError('not_found', `Detection ${detectionId} not found.`);
    return { definition: found, set: await findTests(tx, ref) };
  });
  return testDefinition(deps, { ...ref, definition }, set);
}

/** Runs test cases against a definition, stored or not. */
export async function testDefinition(deps: ProofDeps, tested: Tested, set: TestSet): Promise<TestRun> {
  const local = set.localQuery ?? null;
  const isForeign = !['local', null].includes(tested.definition.siemType?.toLowerCase() ?? null) && local === null;
  const signal = AbortSignal.timeout(timeMsMax);
  const definition = local === null ? tested.definition : { ...tested.definition, detectionQuery: local };
  const results: TestResult[] = [];
  for (const test of set.tests)
    results.push(await resultOf(deps, { ...tested, definition }, { test, isForeign, signal }));
  return { passed: results.length > 0 && results.every(({ passed }) => passed), queryTested: !isForeign, results };
}

async function resultOf(
  deps: ProofDeps,
  tested: Tested,
  given: { test: TestCase; isForeign: boolean; signal: AbortSignal },
): Promise<TestResult> {
  const expected = [...new Set(given.test.expect)].toSorted();
  const none = { name: given.test.name, expected, found: [], missing: expected, unexpected: [] };
  try {
    const found = await runCase(deps, tested, given);
    const missing = expected.filter((entity) => !found.includes(entity));
    const unexpected = found.filter((entity) => !expected.includes(entity));
    const passed = missing.length + unexpected.length === 0;
    return { ...none, passed, found, missing, unexpected, error: null };
  } catch (error) {
    return { ...none, passed: false, error: error instanceof Error ? error.message : String(error) };
  }
}

/** For a save that depends on its tests: what is wrong with them, empty where all pass. */
export async function testErrors(deps: ProofDeps, tested: Tested): Promise<FieldError[]> {
  const set = await inOrg(deps.db, tested.orgId, (tx) => findTests(tx, tested));
  if (set.tests.length === 0)
    return [{ pointer: '', code: 'no_tests', detail: 'The detection has no tests; PUT …/tests gives it some.' }];
  const { results } = await testDefinition(deps, tested, set);
  return results
    .filter(({ passed }) => !passed)
    .map(({ name, missing, unexpected, error }) => ({
      pointer: '',
      code: 'test_failed',
      detail: `Test "${name}": ${error ?? wrong(missing, unexpected)}`,
    }));
}

const wrong = (missing: string[], unexpected: string[]): string =>
  [
    missing.length > 0 ? `missing ${missing.join(', ')}` : '',
    unexpected.length > 0 ? `not expected ${unexpected.join(', ')}` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
