import { LRUCache } from 'lru-cache';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { atMostEvery, runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { countMatches, noteMatchedFrom, readMatchedKey, type PausedDetection } from './continuous-detections.store.ts';
import { matchEvents, readIndex, type RuleIndex, checkNewDetections } from './match-events.ts';
import {
  advancePosition,
  claimDatasetAcrossOrgs,
  findNextWindow,
  listWaitingOrgsAcrossOrgs,
  MatchLostError,
  releaseDataset,
  renewDataset,
  type MatchClaim,
} from './match-positions.store.ts';
import { insertMatchedWindows, requeueMatchedWindows } from './matched-windows.store.ts';

export type MatchDeps = SearchLogsDeps & { log: Logger; config: { continuousPerMinute: number } };

/** Events that are matched together, about. */
const eventsMax = 50_000;
const idleMs = 500;
const checkMs = 2000;
const requeueMs = 5000;
const retryMs = 5000;

/**
 * Matches new events with continuous detections until `signal` aborts. Several processes may do so side by side: each takes the dataset of the
 * organization that was served longest ago.
 */
export function matchLoop(deps: MatchDeps, signal: AbortSignal): Promise<void> {
  const indexes = createRuleIndexes();
  const check = atMostEvery(checkMs, async () => {
    while (!signal.aborted && (await checkNewDetections(deps)));
  });
  const requeue = atMostEvery(requeueMs, () => requeueLeftWindows(deps));
  return runLoop({ name: 'match', idleMs, signal, log: deps.log }, async () => {
    await check();
    await requeue();
    return matchNext(deps, indexes);
  });
}

/** What this process knows of the datasets that it has matched last. */
type RuleIndexes = LRUCache<string, RuleIndex>;

const createRuleIndexes = (): RuleIndexes =>
  new LRUCache({ max: 5000, maxSize: 50_000, sizeCalculation: ({ detections }) => detections.length + 1 });

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
  const claim = await claimDatasetAcrossOrgs(deps.db, 'detections');
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
  const { key, window } = await inOrg(db, orgId, async (tx) => ({
    key: await readMatchedKey(tx, orgId, dataset),
    window: await findNextWindow(tx, claim, eventsMax),
  }));
  const place = `${orgId}/${dataset}`;
  const known = indexes.get(place);
  const index = key === null || known?.key === key ? known : await readIndex(deps, claim, key, known);
  const renew = atMostEvery(renewMs, () => inOrg(db, orgId, (tx) => renewDataset(tx, claim)), performance.now());
  const isMatched = key !== null && !window.isEmpty;
  const matches = isMatched ? await matchEvents(deps, index!, { orgId, dataset, window }, renew) : [];
  await inOrg(db, orgId, async (tx) => {
    await advancePosition(tx, claim, window.to);
    if (index !== known) await noteMatchedFrom(tx, orgId, { revisions: index!.detections, from: window.from });
    const now = clock();
    const perMinuteMax = deps.config.continuousPerMinute;
    const paused = await countMatches(tx, orgId, { matches, now, perMinuteMax });
    const pausedIds = new Set(paused.map(({ detectionId }) => detectionId));
    const followed = matches.filter(({ detectionId }) => !pausedIds.has(detectionId));
    await insertMatchedWindows(tx, orgId, { window, matches: followed, now });
    await emitPaused(tx, orgId, { paused, perMinuteMax, now });
  });
  if (index) indexes.set(place, index);
}

const renewMs = 10_000;

type Paused = { paused: readonly PausedDetection[]; perMinuteMax: number; now: Date };

/** Emits `continuous.paused` for detections that matched more events than the limit. Their slots examine what was not stored. */
async function emitPaused(tx: Tx, orgId: OrgId, { paused, perMinuteMax, now }: Paused): Promise<void> {
  await emitEvents(tx, paused.length > 0 ? [orgId] : [], ['continuous.paused'], () =>
    paused.map(({ detectionId, name, events }) => {
      const data = { organizationId: orgId, detectionId, name, events, perMinuteMax, at: now.toISOString() };
      return { orgId, type: 'continuous.paused', resourceId: detectionId, revision: now.getTime(), data, detectionId };
    }),
  );
}
