import { type Db, acrossOrgs } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { addUsageAcrossOrgs, type UsageCounts } from './usage.store.ts';
import type { RunMetrics } from '../../detection/runs/workers/run-metrics.ts';
import type { RecordPull } from '../../feed/sources/pull/start-pulls.ts';
import type { App } from '../../platform/http/app-type.ts';

/** Counts what organizations use, in memory, so that no request waits for a row that all requests change. */
export type UsageCounter = {
  /** Adds to the counts of an organization on the current day. */
  add: (orgId: string, counts: Partial<UsageCounts>) => void;
  /** Writes what was counted since the last time. What cannot be written is kept. */
  flush: () => Promise<void>;
  /** Stops the periodic writing and writes the rest. */
  stop: () => Promise<void>;
};

const flushMs = 10_000;
const none: UsageCounts = { requests: 0, refusedRequests: 0, queryMs: 0, feedItems: 0 };

/** Creates the counter of one process, which writes every 10 seconds. `clock` is slot time. */
export function createUsageCounter({ db, clock, log }: { db: Db; clock: Clock; log: Logger }): UsageCounter {
  let counted = new Map<string, UsageCounts>();
  let writing: Promise<void> = Promise.resolve();
  const add: UsageCounter['add'] = (orgId, counts) =>
    addTo(counted, `${clock().toISOString().slice(0, 10)} ${orgId}`, counts);
  const write = async (): Promise<void> => {
    if (counted.size === 0) return;
    const pending = counted;
    counted = new Map();
    try {
      const rows = [...pending].map(([key, counts]) => ({ day: key.slice(0, 10), orgId: key.slice(11), ...counts }));
      await acrossOrgs(db, (tx) => addUsageAcrossOrgs(tx, rows));
    } catch (error) {
      for (const [key, counts] of pending) addTo(counted, key, counts);
      log.warn({ err: error }, 'the use of organizations could not be written and is written later');
    }
  };
  const flush = (): Promise<void> => (writing = writing.then(write));
  const timer = setInterval(() => void flush(), flushMs).unref();
  return {
    add,
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

function addTo(map: Map<string, UsageCounts>, key: string, counts: Partial<UsageCounts>): void {
  const total = map.get(key) ?? { ...none };
  for (const name of Object.keys(counts) as (keyof UsageCounts)[]) total[name] += counts[name] ?? 0;
  map.set(key, total);
}

/** Counts the requests of organizations, and those that are refused with 429. */
export function countRequests(app: App, usage: UsageCounter): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    if (caller) usage.add(caller.orgId, { requests: 1, refusedRequests: reply.statusCode === 429 ? 1 : 0 });
    done();
  });
}

/** Counts the time that the queries of a run took, too. */
export const withQueryTime =
  (observeRun: RunMetrics['observeRun'], usage: UsageCounter): RunMetrics['observeRun'] =>
  (run) => {
    observeRun(run);
    const query = run.progress.phases.find(({ name }) => name === 'query');
    if (query) usage.add(run.orgId, { queryMs: query.ms });
  };

/** Counts the items that a pull added or corrected, too. */
export const withFeedItems =
  (recordPull: RecordPull, usage: UsageCounter): RecordPull =>
  (source, result) => {
    recordPull(source, result);
    usage.add(source.organization_id, { feedItems: result.added + result.corrected });
  };
