import { workerData } from 'node:worker_threads';
import { processArrivals } from '../feed/deduplication/recompute-pools.ts';
import { createMainThreadProxy } from '../feed/ingestion/extractor.ts';
import { reanalyzeBatch } from '../feed/ingestion/reanalyze-items.ts';
import { scoreNextBatch } from '../feed/relevance/score-items.ts';
import { onBackend, openDb } from '../platform/db/db.ts';
import { createLogger } from '../platform/lib/logging/logger.ts';
import { lowerProcessPriority, lowerThreadPriority, serveTasks } from '../platform/lib/threads/thread-worker.ts';
import type { FeedStepSettings, FeedStepTask } from './feed-steps.ts';

const { connectTo, databaseUrl, logLevel, referenceDataVersion } = workerData as FeedStepSettings;
const db = openDb(connectTo, 4);
const log = createLogger(logLevel);
const steps = { arrivals: processArrivals, relevance: scoreNextBatch, reanalysis: reanalyzeBatch };

lowerThreadPriority();
// Only the embedded server is certain to run on this machine.
if (databaseUrl === undefined) onBackend(db, lowerProcessPriority);
serveTasks(({ step, clockOffsetMs }: FeedStepTask, callOwner) => {
  const clock = (): Date => new Date(Date.now() + clockOffsetMs);
  return steps[step]({ db, log, clock, ...createMainThreadProxy(callOwner, referenceDataVersion) });
});
