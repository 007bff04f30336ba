import { acrossOrgs, inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { nilId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { QuotaState } from '../../platform/orgs/limits/limits.schema.ts';
import { listQuotaStates } from '../../platform/orgs/limits/limits.store.ts';
import {
  claimUncheckedAcrossOrgs,
  deleteAlarm,
  lockAlarms,
  measureStoredLogsAcrossOrgs,
  setAlarm,
} from './usage.store.ts';

type CheckQuotasDeps = { db: Db; clock: Clock };

const idleMs = 10_000;
/** The quota of stored logs is enforced by its alarm, so that it is exceeded by what arrives in this time. */
const everyMs = 60_000;
const organizationsPerStep = 50;

/** Compares what organizations use with their quotas, each once a minute and shortly after its quotas changed. */
export function quotaLoop(deps: CheckQuotasDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'quotas', idleMs, signal, log: deps.log }, () => checkQuotas(deps));
}

/** Checks the organizations that are due. Returns whether there may be more. */
export async function checkQuotas({ db, clock }: CheckQuotasDeps): Promise<boolean> {
  const claimed = await acrossOrgs(db, (tx) => claimUncheckedAcrossOrgs(tx, everyMs, organizationsPerStep));
  for (const orgId of claimed) await inOrg(db, orgId, (tx) => checkOrganization(tx, orgId, clock()));
  return claimed.length === organizationsPerStep;
}

async function checkOrganization(tx: Tx, orgId: OrgId, now: Date): Promise<void> {
  const alarms = await lockAlarms(tx, orgId);
  const states = await listQuotaStates(tx, orgId, now);
  for (const state of states) {
    const before = alarms.get(state.quota) ?? 'free';
    alarms.delete(state.quota);
    if (state.level === before) continue;
    if (state.level === 'free') await deleteAlarm(tx, orgId, state.quota);
    else await setAlarm(tx, orgId, state.quota, state.level);
    await emitLevel(tx, orgId, state, now);
  }
  // Quotas that were removed.
  for (const quota of alarms.keys()) await deleteAlarm(tx, orgId, quota);
}

async function emitLevel(tx: Tx, orgId: OrgId, { level, ...state }: QuotaState, now: Date): Promise<void> {
  const type = level === 'free' ? 'quota.freed' : level === 'nearing' ? 'quota.nearing' : 'quota.reached';
  await emitEvents(tx, [orgId], [type], () => [
    { orgId, type, resourceId: state.quota, revision: now.getTime(), data: { organizationId: orgId, ...state } },
  ]);
}

const measureMs = 600_000;
const measuredPerStep = 200;

/** Measures the stored logs of all organizations every ten minutes, for the usage by day. */
export function measureLoop(deps: { db: Db; clock: Clock; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'usage', idleMs: measureMs, signal, log: deps.log }, async () => {
    await measureStoredLogs(deps, signal);
    return false;
  });
}

/** Measures the stored logs of all organizations, some in each transaction. Ends early if the signal aborts. */
export async function measureStoredLogs(
  { db, clock }: { db: Db; clock: Clock },
  signal?: AbortSignal,
  limit = measuredPerStep,
): Promise<void> {
  const day = clock().toISOString().slice(0, 10);
  let afterId = nilId;
  for (;;) {
    const page = { day, afterId, limit };
    const lastId = await acrossOrgs(db, (tx) => measureStoredLogsAcrossOrgs(tx, page));
    if (lastId === undefined || signal?.aborted) return;
    afterId = lastId;
  }
}
