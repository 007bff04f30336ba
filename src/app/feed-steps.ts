import { hasArrivals } from '../feed/deduplication/arrivals.store.ts';
import { hasStaleItems } from '../feed/ingestion/reanalyze-items.ts';
import { findDueOrgAcrossOrgs } from '../feed/relevance/relevance.store.ts';
import { acrossOrgs, addressOf, type DatabaseAddress, type Db } from '../platform/db/db.ts';
import { siblingModule } from '../platform/lib/program-files.ts';
import { createThreadPool } from '../platform/lib/threads/thread-pool.ts';
import { createCallAnswerer, type Extractor } from '../feed/ingestion/extractor.ts';
import type { SnapshotCache } from '../feed/items/snapshot/snapshot.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import type { Clock } from '../platform/lib/time/clock.ts';

/** The steps of the feed's loops that compute for long: deduplication across pools, relevance, and extraction of stored texts again. */
export type FeedStep = 'arrivals' | 'relevance' | 'reanalysis';
/** Runs one step of a loop in a thread with its own database connections. Returns whether there was work. */
export type RunFeedStep = (step: FeedStep, signal: AbortSignal) => Promise<boolean>;

export type FeedStepTask = { step: FeedStep; clockOffsetMs: number };
/** `connectTo` is the database's address. `databaseUrl` is set only for an external one. */
export type FeedStepSettings = {
  connectTo: DatabaseAddress;
  databaseUrl: string | undefined;
  logLevel: string;
  referenceDataVersion: number;
};
type FeedStepsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  config: { databaseUrl: string | undefined };
  extractor: Extractor;
  snapshots: SnapshotCache;
};

const timeoutMs = 600_000;

/**
 * The steps share one thread, so that they leave the event loop to requests. It starts with the first step that has work, because it loads half
 * of the feed. `close` ends running steps.
 */
export function createFeedSteps(deps: FeedStepsDeps): { runFeedStep: RunFeedStep; close: () => Promise<void> } {
  const { referenceDataVersion } = deps.extractor;
  const threads = createThreadPool<FeedStepTask, boolean>({
    file: siblingModule('feed-step-thread', import.meta),
    workerData: {
      connectTo: addressOf(deps.db),
      databaseUrl: deps.config.databaseUrl,
      logLevel: deps.log.level,
      referenceDataVersion,
    } satisfies FeedStepSettings,
    threadsMax: 1,
    tasksPerThread: 4,
    waitingMax: 16,
    memoryMb: 1_024,
    answerCall: createCallAnswerer(deps),
  });
  const isDue: Record<FeedStep, () => Promise<unknown>> = {
    arrivals: () => acrossOrgs(deps.db, hasArrivals),
    relevance: () => findDueOrgAcrossOrgs(deps.db),
    reanalysis: () => hasStaleItems(deps),
  };
  return {
    runFeedStep: async (step, signal) => {
      if (!(await isDue[step]())) return false;
      return threads.run({ step, clockOffsetMs: deps.clock().getTime() - Date.now() }, { timeoutMs, signal });
    },
    close: threads.close,
  };
}
