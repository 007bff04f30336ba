import { join } from 'node:path';
import { Gauge, Registry, Counter, Histogram, collectDefaultMetrics } from 'prom-client';
import type { Db, ReadReplica } from '../platform/db/db.ts';
import {
  readInstallationFiguresAcrossOrgs,
  readLogStoreFiguresAcrossOrgs,
  type InstallationFigures,
  type LogStoreFigures,
} from './installation-figures.store.ts';
import type { Config } from '../config.ts';
import { createDiskGuard, type DiskGuard } from '../platform/lib/storage/disk-guard.ts';
import { workerRoles, type WorkerRole } from './worker-roles.ts';
import type { App } from '../platform/http/app-type.ts';

export type Metrics = { registry: Registry; requests: Histogram<'method' | 'route' | 'status'> };

/** Gauges of prom-client with the suffix of a counter, which Prometheus reports as a mistake. The gauges without it have the same figures by type. */
const miscalledTotals = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Creates the metrics registry of one app. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of miscalledTotals) registry.removeSingleMetric(name);
  const requests = new Histogram({
    name: 'tocsin_http_request_seconds',
    help: 'Response time by route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  return { registry, requests };
}

/** Observes the response time of every request and serves `GET /metrics` as Prometheus text. */
export function registerMetrics(app: App, metrics: Metrics): void {
  const observers = new Map<string, (seconds: number) => void>();
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const key = `${request.method} ${reply.statusCode} ${route}`;
    let observe = observers.get(key);
    if (!observe) {
      const child = metrics.requests.labels({ method: request.method, route, status: String(reply.statusCode) });
      observers.set(key, (observe = (seconds) => child.observe(seconds)));
    }
    observe(reply.elapsedTime / 1000);
    done();
  });
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { isPublic: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  });
}

/** How long figures are reused, because several scrapers must not multiply the queries. Ages are used by alerts, so they are never older. */
const figuresLimits = { minMs: 10_000, maxMs: 10_000 };
const logStoreLimits = { minMs: 10_000, maxMs: 600_000 };

const gauges: Record<keyof InstallationFigures, [name: string, help: string]> = {
  slotLag: ['tocsin_slot_lag_seconds', 'How long the oldest slot that is due has not been scheduled.'],
  queueAge: [
    'tocsin_run_queue_oldest_seconds',
    'How long the run that has waited longest to be examined could have started.',
  ],
  judgeQueueAge: [
    'tocsin_judge_queue_oldest_seconds',
    'How long the run that has waited longest for a model could have been judged.',
  ],
  matchLag: [
    'tocsin_match_lag_seconds',
    'How long the oldest event has waited to be matched with continuous detections or indicators of the feed.',
  ],
  missedEvents: [
    'tocsin_stream_missed',
    'Events that slots found although the continuous matching should have. Expected: 0.',
  ],
  pausedContinuous: [
    'tocsin_continuous_paused',
    'Continuous detections that matched too many events and went back to their slots.',
  ],
  pendingWindows: ['tocsin_pending_windows', 'Windows that wait to be examined.'],
  failedWindows: ['tocsin_failed_windows', 'Windows that wait after a failed query.'],
  openGaps: ['tocsin_open_gaps', 'Open gaps: time that no run examined.'],
  pendingDeliveries: ['tocsin_outbox_pending', 'Events that wait for delivery to a destination.'],
  deliveryAge: ['tocsin_outbox_oldest_seconds', 'How long the oldest event has waited for delivery.'],
  logEvents: ['tocsin_log_events', 'Events that the datasets have received.'],
  sources: ['tocsin_feed_sources', 'Enabled feed sources.'],
  failingSources: ['tocsin_feed_sources_failing', 'Enabled feed sources whose last pull failed.'],
  items: ['tocsin_feed_items', 'Items of the feed, as the database estimates them.'],
  openHits: ['tocsin_open_hits', 'Hits that nobody has judged.'],
  pausedConnections: ['tocsin_paused_connections', 'SIEM connections that are paused after failures.'],
  pausedModels: ['tocsin_paused_models', 'Models that are paused after failures, by organization.'],
  pendingErasures: ['tocsin_erasures_pending', 'Organizations whose deletion has not finished.'],
  erasureAge: [
    'tocsin_erasure_oldest_seconds',
    'How long ago the oldest deletion that has not finished was requested.',
  ],
  failingErasures: ['tocsin_erasures_failing', 'Organizations whose deletion failed and is tried again.'],
  finishedErasures: ['tocsin_erasures_finished', 'Organizations that were deleted.'],
  nearingQuotas: ['tocsin_quotas_nearing', 'Quotas of organizations of which at least 80 percent are used.'],
  reachedQuotas: ['tocsin_quotas_reached', 'Quotas of organizations that are used up.'],
};

const logStoreGauges: Record<keyof LogStoreFigures, [name: string, help: string]> = {
  logSegments: ['tocsin_log_segments', 'Segments of the log store, as of a few minutes ago if there are very many.'],
  logBytes: ['tocsin_log_bytes', 'Size of the segments of the log store, as old as their number.'],
};

/** Registers gauges for the state of the whole installation, which every process reports alike, and for this process's database pool. */
export function registerInstallationMetrics(registry: Registry, db: Db): void {
  const registers = [registry];
  const read = limitReads(() => readInstallationFiguresAcrossOrgs(db), figuresLimits);
  registerFigures(registers, gauges, read);
  registerFigures(
    registers,
    logStoreGauges,
    limitReads(() => readLogStoreFiguresAcrossOrgs(db), logStoreLimits),
  );
  void new Gauge({
    name: 'tocsin_database_up',
    help: 'Whether the database answers: 1 or 0. If it is 0, the figures of the installation are NaN.',
    registers,
    async collect() {
      this.set(
        await read().then(
          () => 1,
          () => 0,
        ),
      );
    },
  });
  void new Gauge({
    name: 'tocsin_database_connections',
    help: 'Database connections of this process, by state. `waiting` are requests for one.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { totalCount, idleCount, waitingCount } = db.pool;
      this.set({ state: 'used' }, totalCount - idleCount);
      this.set({ state: 'idle' }, idleCount);
      this.set({ state: 'waiting' }, waitingCount);
    },
  });
}

/** Registers one gauge per figure. A gauge is NaN while its figures cannot be read. */
function registerFigures<Figures extends Record<keyof Figures, number>>(
  registers: Registry[],
  descriptions: Record<keyof Figures, [name: string, help: string]>,
  read: () => Promise<Figures>,
): void {
  for (const [key, [name, help]] of Object.entries(descriptions) as [keyof Figures, [string, string]][])
    void new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(
          await read().then(
            (figures) => figures[key],
            () => Number.NaN,
          ),
        );
      },
    });
}

type ReadLimits = { minMs: number; maxMs: number };

/** A read is repeated after this many times its duration. */
const durationsBetween = 100;

/**
 * Returns a function that shares one read between its callers. It reads again after `minMs`, but after a slow read only when a hundred times
 * the duration of that has passed, up to `maxMs`. So reading takes a hundredth of the time of one connection at most, however much there is to
 * read. Callers of a read that fails get its error until the next one.
 */
export function limitReads<T>(
  read: () => Promise<T>,
  { minMs, maxMs }: ReadLimits,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { result: Promise<T>; startedMs: number; tookMs: number | undefined } | undefined;
  return () => {
    if (last) {
      const { result, startedMs, tookMs } = last;
      // A read that has not finished is shared as well.
      if (tookMs === undefined) return result;
      const reusableMs = Math.min(maxMs, Math.max(minMs, tookMs * durationsBetween));
      if (nowMs() - startedMs <= reusableMs) return result;
    }
    const startedMs = nowMs();
    const current: NonNullable<typeof last> = { result: read(), startedMs, tookMs: undefined };
    const finish = (): void => void (current.tookMs = nowMs() - startedMs);
    current.result.then(finish, finish);
    last = current;
    return current.result;
  };
}

/** Watches the disk of the data directory, and those of its folders that are mounted from others. */
export function createDataDiskGuard({ dataDir, diskReserveBytes }: Pick<Config, 'dataDir' | 'diskReserveBytes'>) {
  const folders = [dataDir, ...['pg', 'logs', 'log-cache'].map((name) => join(dataDir, name))];
  return createDiskGuard({ folders, reserveBytes: diskReserveBytes });
}

/** Registers the free space that the guard sees. */
export function registerDiskMetrics(registry: Registry, guard: DiskGuard): void {
  void new Gauge({
    name: 'tocsin_disk_free_bytes',
    help: 'Free space of the data directory. At the reserve, ingestion stops.',
    registers: [registry],
    async collect() {
      this.set(await guard.freeBytes());
    },
  });
  void new Gauge({
    name: 'tocsin_ingestion_stopped',
    help: 'Whether logs and feeds are refused because the disk is full up to its reserve: 1 or 0.',
    registers: [registry],
    async collect() {
      this.set((await guard.hasSpace()) ? 0 : 1);
    },
  });
}

/** Registers metrics of the read replica: whether reads use it, and where transactions of reads ran. */
export function registerReplicaMetrics(registry: Registry, replica: ReadReplica): void {
  const registers = [registry];
  void new Gauge({
    name: 'tocsin_replica_up',
    help: 'Whether reads of this process may use the read replica: 1 or 0.',
    registers,
    collect() {
      this.set(replica.fault() === null ? 1 : 0);
    },
  });
  void new Counter({
    name: 'tocsin_replica_reads_total',
    help: 'Transactions of reading requests, by result: replica, or why they ran on the primary (behind, refused, failed, skipped).',
    labelNames: ['result'] as const,
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(replica.counts)) this.inc({ result }, count);
    },
  });
}

/** Registers a gauge of the worker roles that this process has. The work of a role is not done if no process has the role. */
export function registerRoleMetric(registry: Registry, roles: readonly WorkerRole[]): void {
  const gauge = new Gauge({
    name: 'tocsin_worker_role',
    help: 'Whether this process has the worker role: 1 or 0.',
    labelNames: ['role'] as const,
    registers: [registry],
  });
  for (const role of workerRoles) gauge.set({ role }, roles.includes(role) ? 1 : 0);
}
