import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { TestSet } from './test-cases.schema.ts';
import { findTests, storeTests } from './test-cases.store.ts';
import { requireDetection } from '../require-detection.ts';
import { findAgent } from '../detection-views.store.ts';

type TestCaseDeps = { db: Db; clock: Clock };

/** Returns a detection's test cases in the order of the last PUT. */
export async function getTests({ db, clock }: TestCaseDeps, caller: Caller, id: string): Promise<TestSet> {
  return inOrg(db, caller.orgId, async (tx) => {
    requireDetection(await findAgent(tx, { orgId: caller.orgId, now: clock() }, id), id);
    return findTests(tx, { orgId: caller.orgId, detectionId: id });
  });
}

/** Replaces a detection's test cases. */
export async function putTests(deps: TestCaseDeps, caller: Caller, id: string, set: TestSet): Promise<TestSet> {
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId: id };
  await inOrg(deps.db, caller.orgId, async (tx) => {
    requireDetection(await findAgent(tx, { orgId: caller.orgId, now }, id), id);
    const names = ({ tests }: TestSet) => ({ tests: tests.map(({ name }) => name) });
    const before = names(await findTests(tx, key));
    await storeTests(tx, key, set, now);
    await insertAudit(tx, caller, {
      action: 'detection.tests_changed',
      resourceType: 'detection',
      resourceId: id,
      before,
      after: names(set),
    });
  });
  return getTests(deps, caller, id);
}
