import { createHash } from 'node:crypto';
import { acrossOrgs, inOrg, type Db } from '../../platform/db/db.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { fetchBytes } from '../../platform/lib/outbound-http/fetch.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { toAddress } from './rule-sources.schema.ts';
import { claimDueCheckAcrossOrgs, storeCheck, type CheckOutcome, type RuleSourceCheck } from './rule-sources.store.ts';

type CheckDeps = { db: Db; clock: Clock; log: Logger; config: { fetchAllow: readonly string[] } };

const bytesMax = 16 * 1024 * 1024;
const idleMs = 2_000;
const versionDigits = 12;

/** Fetches the archives of rule sources when they are due, until the signal aborts. */
export const ruleSourcesLoop = (deps: CheckDeps, signal: AbortSignal): Promise<void> =>
  runLoop({ name: 'rule sources', idleMs, signal, log: deps.log }, () => checkNextSource(deps, signal));

/** Checks the rule source that has been due longest. Returns false if none is due. */
export async function checkNextSource(deps: CheckDeps, signal: AbortSignal): Promise<boolean> {
  const due = await acrossOrgs(deps.db, (tx) => claimDueCheckAcrossOrgs(tx, deps.clock()));
  if (!due) return false;
  const outcome = await fetchArchive(deps, due, signal);
  await inOrg(deps.db, due.orgId, (tx) => storeCheck(tx, due, outcome, deps.clock()));
  return true;
}

async function fetchArchive(
  { config }: CheckDeps,
  { url, etag }: RuleSourceCheck,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  try {
    const conditional = etag === null ? {} : { etag };
    const fetched = await fetchBytes({
      url: toAddress(url),
      allow: config.fetchAllow,
      bytesMax,
      signal,
      ...conditional,
    });
    if (fetched.kind === 'not-modified') return 'unchanged';
    const version = createHash('sha256').update(fetched.bytes).digest('hex').slice(0, versionDigits);
    return { archive: fetched.bytes, version, etag: fetched.etag ?? null };
  } catch (error) {
    if (signal.aborted || !(error instanceof ExternalError)) throw error;
    return { failure: error.message };
  }
}
