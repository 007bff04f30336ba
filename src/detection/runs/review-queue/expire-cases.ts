import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { endCase, listExpiredAcrossOrgs, lockOpenCase } from '../judging/review-cases.store.ts';
import { raiseCase } from './settle-case.ts';

const casesMax = 50;

/**
 * Makes hits of undecided cases that nobody decided in time, and ends audited dismissals that nobody looked at. Each case is one transaction, which
 * locks it: whatever stops in between, each becomes one hit. Returns whether there were any. At most 50 at a time.
 */
export async function expireCasesAcrossOrgs({ db, clock }: { db: Db; clock: Clock }): Promise<boolean> {
  const now = clock();
  const expired = await acrossOrgs(db, (tx) => listExpiredAcrossOrgs(tx, now, casesMax));
  for (const { orgId, id } of expired)
    await inOrg(db, orgId, async (tx) => {
      const one = await lockOpenCase(tx, orgId, id);
      if (!one) return;
      if (one.kind === 'undecided') await raiseCase(tx, one, { reason: 'Nobody decided in time.', author: null, now });
      else
        await endCase(tx, orgId, id, {
          state: 'expired',
          reason: 'Nobody looked at it in time.',
          author: null,
          hitId: null,
          now,
        });
    });
  return expired.length > 0;
}
