// A worker process of the soak. It runs all worker loops on a shared database, with the slot time that its parent process sends.
import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb } from '../src/platform/db/db.ts';
import { createLogger } from '../src/platform/lib/logging/logger.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { runWorkerLoops } from '../src/app/worker/worker-loops.ts';
import { soakSiem } from './soak-connector.ts';
import { createSlotClock } from './slot-clock.ts';

export type WorkerTask = { now: string; start: string; siemUrl: string; local: OrgId[] };
/** `measures`: whether the process answers with its memory, after a garbage collection. */
export type ToWorker = { now: string; measures: boolean };
export type FromWorker = { rssBytes: number; liveBytes: number; cpuMs: number };

function measureProcess(): FromWorker {
  const { user, system } = process.cpuUsage();
  // Live memory is what remains after a garbage collection. The resident size also depends on how lazily V8 collects.
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, liveBytes: heapUsed + external, cpuMs: (user + system) / 1000 };
}

const { now, start, siemUrl, local } = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const clock = createSlotClock(new Date(now));
process.on('message', (message: ToWorker) => {
  if (message.measures) process.send?.(measureProcess());
  clock.set(new Date(message.now));
});

const config = loadConfig();
const db = openDb(config.databaseUrl!, config.runsAtOnce + 4);
const built = buildDeps({ config, db, log: createLogger(config.logLevel), clock: clock.now });
const siem = soakSiem.connect({ url: siemUrl, firstEventAt: new Date(start) });
const locals = new Set(local);
const deps = {
  ...built.deps,
  connectionFor: (...[orgId, ref, tx]: Parameters<typeof built.deps.connectionFor>) =>
    locals.has(orgId) ? built.deps.connectionFor(orgId, ref, tx) : Promise.resolve(siem),
  // Slot time jumps by design here. The production guard against clock jumps would stop the scheduler.
  clockGuard: { check: () => true, reason: () => null },
};
const controller = new AbortController();
process.on('SIGTERM', () => controller.abort());
process.on('disconnect', () => process.exit(controller.signal.aborted ? 0 : 1));
process.send?.(measureProcess());

await runWorkerLoops(deps, controller.signal);
await built.stop();
await db.destroy();
process.disconnect();
