import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { contentVersion, type RecordVersion } from '../../platform/http/etag.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import type { TestSet } from './test-cases.schema.ts';
import { findTests, storeTestsSql } from './test-cases.store.ts';
import { auditDetection, lockDetection, readDetection } from './read-detections.ts';

type TestCaseDeps = { db: Db; clock: Clock };

/** Returns a detection's test cases in the order of the last PUT. */
export async function getTests({ db, clock }: TestCaseDeps, caller: Caller, id: string): Promise<TestSet> {
  return inOrg(db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now: clock() }, id);
    return findTests(tx, { orgId: caller.orgId, detectionId: id });
  });
}

/** The version of test cases is their content. */
export const versionOfTests = ({ tests, localQuery = null }: TestSet): RecordVersion =>
  contentVersion([tests, localQuery]);

/** Replaces a detection's test cases. Throws 412 if `ifMatch` is not their ETag. */
export async function putTests(
  deps: TestCaseDeps,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch?: string | undefined },
  set: TestSet,
): Promise<TestSet> {
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId: id };
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const { name } = await lockDetection(tx, { orgId: caller.orgId, now }, id);
    const summarize = (one: TestSet) => ({ name, tests: one.tests.map((test) => test.name), ...versionOfTests(one) });
    const stored = await findTests(tx, key);
    const action = 'detection.tests_changed';
    await requireMatch(tx, ifMatch, versionOfTests(stored), { resourceType: 'detection', resourceId: id, action });
    await storeTestsSql(key, set, now).execute(tx);
    await auditDetection(tx, caller, id, {
      action,
      before: summarize(stored),
      after: summarize(await findTests(tx, key)),
    });
  });
  return getTests(deps, caller, id);
}
