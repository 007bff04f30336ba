// One process of a cluster: the API, worker loops, or both, on a given database, at the slot time that its parent sends.
import { once } from 'node:events';
import { buildApp } from '../../../src/app/http-server.ts';
import { buildDeps } from '../../../src/app/build-deps.ts';
import { loadConfig } from '../../../src/config.ts';
import { openDb } from '../../../src/platform/db/db.ts';
import { createLogger } from '../../../src/platform/lib/logging/logger.ts';
import { workerRoles } from '../../../src/app/worker-roles.ts';
import { runWorkerLoops } from '../../../src/app/worker/worker-loops.ts';
import { createClockGuard } from '../../../src/detection/scheduling/clock-guard.ts';

/** `skewMs`: how wrong the clock of this process is. */
export type ToWorker = { now: string; skewMs: number };
/** Sent when the process works. A process without the API has no address. */
export type FromWorker = { url: string | null };

let time: ToWorker = { now: process.argv[2] ?? '', skewMs: 0 };
process.on('message', (message: ToWorker) => {
  time = message;
});
const trueMs = (): number => new Date(time.now).getTime();
const clock = (): Date => new Date(trueMs() + time.skewMs);

// The roles of workers, and `serve`. Without a setting, what runs of detections need.
const tasks = process.env['CLUSTER_TASKS']?.split(' ') ?? ['serve', 'runs', 'match', 'judge'];
const config = loadConfig();
const db = openDb(config.databaseUrl!, 8);
const { deps: built, stop } = buildDeps({ config, db, log: createLogger(config.logLevel), clock });
// Slot time runs far ahead of the machine's clock, so the guard compares it with the time of the parent, which never jumps back.
const deps = { ...built, clockGuard: createClockGuard(clock, trueMs) };
const controller = new AbortController();
const { signal } = controller;
const aborted = once(signal, 'abort');
process.on('SIGTERM', () => controller.abort());
process.on('disconnect', () => process.exit(signal.aborted ? 0 : 1));

const app = tasks.includes('serve') ? await buildApp(deps) : undefined;
const url = (await app?.listen({ port: 0, host: '127.0.0.1' })) ?? null;
process.send?.({ url } satisfies FromWorker);
await Promise.all([
  aborted,
  runWorkerLoops(
    deps,
    signal,
    workerRoles.filter((role) => tasks.includes(role)),
  ),
]);
await app?.close();
await stop();
await db.destroy();
process.disconnect();
