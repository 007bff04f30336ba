import { workerData } from 'node:worker_threads';
import { onBackend, openDb } from '../../../platform/db/db.ts';
import { createLogger } from '../../../platform/lib/logging/logger.ts';
import { createSecretbox } from '../../../platform/lib/secretbox.ts';
import { lowerProcessPriority, lowerThreadPriority, serveTasks } from '../../../platform/lib/threads/thread-worker.ts';
import { createMainThreadProxy } from '../../ingestion/extractor.ts';
import { createParser } from '../documents/parser.ts';
import { pullClaimedSource } from './pull-source.ts';
import type { PullTask, PullThreadSettings } from './pull-threads.ts';

// A pull runs one transaction at a time.
const connectionsMax = 1;
const config = workerData as PullThreadSettings;
const db = openDb(config.connectTo, connectionsMax);
const secrets = createSecretbox(config);
const log = createLogger(config.logLevel);
// Its threads stay, because starting one for each pull takes longer than parsing most documents.
const parser = createParser(config.dataDir);

lowerThreadPriority();
// Only the embedded server is certain to run on this machine.
if (config.databaseUrl === undefined) onBackend(db, lowerProcessPriority);
serveTasks(({ source, isScheduled, clockOffsetMs }: PullTask, callOwner) =>
  pullClaimedSource(
    {
      db,
      secrets,
      log,
      config,
      parser,
      clock: () => new Date(Date.now() + clockOffsetMs),
      ...createMainThreadProxy(callOwner, config.referenceDataVersion),
    },
    { ...source, sealed_auth: source.sealed_auth && Buffer.from(source.sealed_auth) },
    { isScheduled },
  ),
);
