// One worker of the soak: every loop of the program on a given database, at the slot time that its parent sends.
import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb } from '../src/platform/db/db.ts';
import { createLogger } from '../src/platform/lib/logger.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { runWorker } from '../src/app/worker-loops.ts';
import { soakSiem } from './connector.ts';
import { leapingClock } from './slot-clock.ts';

export type WorkerTask = { now: string; start: string; siemUrl: string; local: OrgId[] };
export type ToWorker = { now: string };
export type FromWorker = { rssBytes: number; liveBytes: number; cpuMs: number };

function figures(): FromWorker {
  const { user, system } = process.cpuUsage();
  // What a collection leaves is what is held; the resident size also follows how lazily V8 collects.
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, liveBytes: heapUsed + external, cpuMs: (user + system) / 1000 };
}

const { now, start, siemUrl, local } = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const clock = leapingClock(new Date(now));
process.on('message', (message: ToWorker) => {
  process.send?.(figures());
  clock.leap(new Date(message.now));
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
  // Slot time leaps here: what guards against that in production would hold the scheduler.
  clockGuard: { check: () => true, reason: () => null },
};
const stopped = new AbortController();
process.on('SIGTERM', () => stopped.abort());
process.on('disconnect', () => process.exit(stopped.signal.aborted ? 0 : 1));
process.send?.(figures());

await runWorker(deps, stopped.signal);
await built.stop();
await db.destroy();
process.disconnect();
