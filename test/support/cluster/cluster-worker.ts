// One process of the cluster test: API, scheduler, execution and reaper on a given database, at the slot time that its parent sends.
import { buildApp } from '../../../src/app/http-server.ts';
import { buildDeps } from '../../../src/app/build-deps.ts';
import { loadConfig } from '../../../src/config.ts';
import { openDb } from '../../../src/platform/db/db.ts';
import { createLogger } from '../../../src/platform/lib/logging/logger.ts';
import { matchLoop } from '../../../src/detection/continuous/match-loop.ts';
import { executeLoop, judgeLoop, reapLoop, scheduleLoop } from '../../../src/detection/runs/workers/run-loops.ts';

export type ToWorker = { now: string };
export type FromWorker = { url: string };

let now = new Date(process.argv[2] ?? '');
process.on('message', (message: ToWorker) => {
  now = new Date(message.now);
});

const config = loadConfig();
const db = openDb(config.databaseUrl!, 8);
const { deps, stop } = buildDeps({ config, db, log: createLogger(config.logLevel), clock: () => now });
const stopped = new AbortController();
process.on('SIGTERM', () => stopped.abort());
process.on('disconnect', () => process.exit(stopped.signal.aborted ? 0 : 1));

const app = await buildApp(deps);
const url = await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ url } satisfies FromWorker);

// The test's slot time runs far ahead of the machine's clock. The clock guard of production would stop the scheduler.
const trusting = { check: () => true, reason: () => null };
const { signal } = stopped;
await Promise.all([
  scheduleLoop(deps, trusting, signal),
  matchLoop(deps, signal),
  executeLoop(deps, signal),
  judgeLoop(deps, signal),
  reapLoop(deps, signal),
]);
await app.close();
await stop();
await db.destroy();
process.disconnect();
