import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { TestSet } from './test-cases.schema.ts';
import { findTests, storeTests } from './test-cases.store.ts';
import { auditDetection, readDetection } from '../require-detection.ts';

type TestCaseDeps = { db: Db; clock: Clock };

/** Returns a detection's test cases in the order of the last PUT. */
export async function getTests({ db, clock }: TestCaseDeps, caller: Caller, id: string): Promise<TestSet> {
  return inOrg(db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now: clock() }, id);
    return findTests(tx, { orgId: caller.orgId, detectionId: id });
  });
}

/** Replaces a detection's test cases. */
export async function putTests(deps: TestCaseDeps, caller: Caller, id: string, set: TestSet): Promise<TestSet> {
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId: id };
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const { name } = await readDetection(tx, { orgId: caller.orgId, now }, id);
    const names = ({ tests }: TestSet) => ({ name, tests: tests.map((test) => test.name) });
    const before = names(await findTests(tx, key));
    await storeTests(tx, key, set, now);
    await auditDetection(tx, caller, id, { action: 'detection.tests_changed', before, after: names(set) });
  });
  return getTests(deps, caller, id);
}
