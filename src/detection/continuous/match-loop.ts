import { inOrg, type Tx } from '../../platform/db/db.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { SearchLogsDeps } from '../log-query/search/search-logs.ts';
import {
  countMatches,
  listMatchedDetections,
  type MatchCount,
  type MatchedDetection,
} from './continuous-detections.store.ts';
import { createRuleIndexes, matchEvents, type RuleIndexes } from './match-events.ts';
import {
  advancePosition,
  claimDatasetAcrossOrgs,
  deletePosition,
  findNextWindow,
  listWaitingOrgsAcrossOrgs,
  MatchLostError,
  releaseDataset,
  renewDataset,
  type MatchClaim,
} from './match-positions.store.ts';
import { checkNewDetections } from './plan-rules.ts';
import { insertMatchedWindows, requeueMatchedWindows } from './matched-windows.store.ts';

export type MatchDeps = SearchLogsDeps & { log: Logger; config: { continuousPerMinute: number } };

/** Events that are matched together, about. */
const eventsMax = 50_000;
const idleMs = 500;
const requeueMs = 5000;
const retryMs = 5000;

/**
 * Matches new events with continuous detections until `signal` aborts. Several processes may do so side by side: each takes the dataset of the
 * organization that was served longest ago.
 */
export function matchLoop(deps: MatchDeps, signal: AbortSignal): Promise<void> {
  const indexes = createRuleIndexes();
  let requeuedAt = -Infinity;
  return runLoop({ name: 'match', idleMs, signal, log: deps.log }, async () => {
    const hasNew = await checkNewDetections(deps);
    if (performance.now() - requeuedAt > requeueMs) {
      requeuedAt = performance.now();
      await requeueLeftWindows(deps);
    }
    return (await matchNext(deps, indexes)) || hasNew;
  });
}

/** Does the work of the loop until nothing waits. Tests and the demo use it to step slot time. */
export async function matchWaiting(deps: MatchDeps): Promise<void> {
  const indexes = createRuleIndexes();
  while (await checkNewDetections(deps));
  while (await matchNext(deps, indexes));
  await requeueLeftWindows(deps);
}

async function requeueLeftWindows({ db, clock }: MatchDeps): Promise<void> {
  for (const orgId of await listWaitingOrgsAcrossOrgs(db))
    await inOrg(db, orgId, (tx) => requeueMatchedWindows(tx, orgId, clock()));
}

/** Matches the next events of a dataset. Returns false if none wait. */
async function matchNext(deps: MatchDeps, indexes: RuleIndexes): Promise<boolean> {
  const claim = await claimDatasetAcrossOrgs(deps.db);
  if (!claim) return false;
  try {
    await matchDataset(deps, indexes, claim);
  } catch (error) {
    if (!(error instanceof MatchLostError)) {
      await inOrg(deps.db, claim.orgId, (tx) => releaseDataset(tx, claim, retryMs));
      throw error;
    }
    deps.log.warn({ dataset: claim.dataset }, 'another matcher took over a dataset');
  }
  return true;
}

async function matchDataset(deps: MatchDeps, indexes: RuleIndexes, claim: MatchClaim): Promise<void> {
  const { db, clock } = deps;
  const { orgId, dataset } = claim;
  const { detections, window } = await inOrg(db, orgId, async (tx) => ({
    detections: await listMatchedDetections(tx, orgId, dataset),
    window: await findNextWindow(tx, claim, eventsMax),
  }));
  if (detections.length === 0) return inOrg(db, orgId, (tx) => deletePosition(tx, claim));
  const renew = (): Promise<void> => inOrg(db, orgId, (tx) => renewDataset(tx, claim));
  const counts = window.isEmpty
    ? []
    : await matchEvents(deps, indexes, { orgId, dataset, window, detections }, throttle(renew));
  const matched = counts.map((count, index) => ({ ...detections[index]!, ...count }));
  await inOrg(db, orgId, async (tx) => {
    await advancePosition(tx, claim, window.to);
    const now = clock();
    const perMinuteMax = deps.config.continuousPerMinute;
    const paused = await countMatches(tx, orgId, { matched, from: window.from, now, perMinuteMax });
    const pausedIds = new Set(paused.map(({ detectionId }) => detectionId));
    const matches = matched.filter(({ detectionId, events }) => events > 0 && !pausedIds.has(detectionId));
    await insertMatchedWindows(tx, orgId, { window, matches, now });
    await emitPaused(tx, orgId, { paused, detections, perMinuteMax, now });
  });
}

const renewMs = 10_000;

/** Returns a function that calls another at most once in ten seconds. */
function throttle(renew: () => Promise<void>): () => Promise<void> {
  let renewedAt = performance.now();
  return async () => {
    if (performance.now() - renewedAt < renewMs) return;
    renewedAt = performance.now();
    await renew();
  };
}

type Paused = {
  paused: readonly MatchCount[];
  detections: readonly MatchedDetection[];
  perMinuteMax: number;
  now: Date;
};

/** Emits `continuous.paused` for detections that matched more events than the limit. Their slots examine what was not stored. */
async function emitPaused(tx: Tx, orgId: OrgId, { paused, detections, perMinuteMax, now }: Paused): Promise<void> {
  await emitEvents(tx, paused.length > 0 ? [orgId] : [], ['continuous.paused'], () =>
    paused.map(({ detectionId, events }) => {
      const name = detections.find((one) => one.detectionId === detectionId)!.name;
      const data = { organizationId: orgId, detectionId, name, events, perMinuteMax, at: now.toISOString() };
      return { orgId, type: 'continuous.paused', resourceId: detectionId, revision: now.getTime(), data, detectionId };
    }),
  );
}
