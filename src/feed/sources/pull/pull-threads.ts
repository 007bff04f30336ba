import { addressOf, type DatabaseAddress, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { siblingModule } from '../../../platform/lib/program-files.ts';
import { isPoolBusy, ThreadError, toUnavailable } from '../../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import type { SecretboxSettings } from '../../../platform/lib/secretbox.ts';
import { type Extractor, createCallAnswerer } from '../../ingestion/extractor.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../ingestion/source-row.ts';
import type { SnapshotCache } from '../../items/snapshot/snapshot.ts';
import { releaseSource, withSourceAcrossOrgs } from '../sources.store.ts';
import { BadPull } from './pull-outcome.ts';
import { finishFailedPull } from './pull-source.ts';
import type { RunPull } from './start-pulls.ts';

type PullConfig = SecretboxSettings & {
  fetchAllow: string[];
  fileSources: string[];
};
/** `connectTo` is the database's address. `databaseUrl` is set only for an external one. */
export type PullThreadSettings = PullConfig & {
  connectTo: DatabaseAddress;
  logLevel: string;
  referenceDataVersion: number;
};
export type PullTask = { source: SourceRow; isScheduled: boolean; clockOffsetMs: number };

type PullThreadsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  config: PullConfig;
  extractor: Extractor;
  snapshots: SnapshotCache;
};

const threadsMax = 3;
const pullsPerOrgMax = 2;
// Longer than fetching and parsing may take together. Every transaction restarts it.
const timeoutMs = 600_000;

/**
 * Runs whole pulls in threads with their own database connections: nothing of a pull but its result reaches the event loop of the process.
 * `close` ends running pulls; the next pull of their sources applies the rest.
 */
export function createPullThreads(deps: PullThreadsDeps): { runPull: RunPull; close: () => Promise<void> } {
  const { config, extractor } = deps;
  const threads = createThreadPool<PullTask, PullResult | undefined>({
    file: siblingModule('pull-thread', import.meta),
    workerData: {
      dataDir: config.dataDir,
      fetchAllow: config.fetchAllow,
      fileSources: config.fileSources,
      secretKey: config.secretKey,
      previousSecretKey: config.previousSecretKey,
      logLevel: deps.log.level,
      databaseUrl: config.databaseUrl,
      connectTo: addressOf(deps.db),
      referenceDataVersion: extractor.referenceDataVersion,
    } satisfies PullThreadSettings,
    threadsMax,
    runningPerOwnerMax: pullsPerOrgMax,
    waitingMax: 32,
    memoryMb: 2_048,
    answerCall: createCallAnswerer(deps),
  });
  const runPull: RunPull = async (source, { isScheduled, signal }) => {
    try {
      const clockOffsetMs = deps.clock().getTime() - Date.now();
      const task = { source, isScheduled, clockOffsetMs };
      return await threads.run(task, { timeoutMs, signal, owner: source.organization_id });
    } catch (error) {
      if (!isPoolBusy(error)) {
        const isExhausted = error instanceof ThreadError;
        const reason = isExhausted ? new BadPull('the pull took too much time or memory', { cause: error }) : error;
        return finishFailedPull(deps, source, reason, { isScheduled });
      }
      await withSourceAcrossOrgs(deps.db, source, (tx) => releaseSource(tx, source, source.worker!));
      // The process shuts down.
      if (signal?.aborted) return undefined;
      throw toUnavailable(error, 'Too many pulls are waiting. Try again in a minute.', 60);
    }
  };
  return { runPull, close: threads.close };
}
