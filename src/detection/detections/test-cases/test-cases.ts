import { inOrg } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { TestSet } from './test-cases.schema.ts';
import { findTests, storeTests } from './test-cases.store.ts';
import { detectionOr404 } from '../update-detection.ts';
import { findAgent } from '../detection-views.store.ts';

type TestDeps = Pick<Deps, 'db' | 'clock'>;

/** A detection's test cases, in the order in which they were put. */
export async function getTests({ db, clock }: TestDeps, caller: Caller, id: string): Promise<TestSet> {
  return inOrg(db, caller.orgId, async (tx) => {
    detectionOr404(await findAgent(tx, { orgId: caller.orgId, now: clock() }, id), id);
    return findTests(tx, { orgId: caller.orgId, detectionId: id });
  });
}

/** Puts a set of test cases in place of the one before. */
export async function putTests(deps: TestDeps, caller: Caller, id: string, set: TestSet): Promise<TestSet> {
  const now = deps.clock();
  const ref = { orgId: caller.orgId, detectionId: id };
  await inOrg(deps.db, caller.orgId, async (tx) => {
    detectionOr404(await findAgent(tx, { orgId: caller.orgId, now }, id), id);
    const names = ({ tests }: TestSet) => ({ tests: tests.map(({ name }) => name) });
    const before = names(await findTests(tx, ref));
    await storeTests(tx, ref, set, now);
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
