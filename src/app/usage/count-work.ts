import type { RunMetrics } from '../../detection/runs/run-metrics.ts';
import type { RecordPull } from '../../feed/sources/pull/pull-metrics.ts';
import type { App } from '../../platform/http/app-type.ts';
import type { UsageCounter } from './usage-counter.ts';

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
