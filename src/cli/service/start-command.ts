import { buildApp } from '../../app/http-server.ts';
import { buildDeps } from '../../app/build-deps.ts';
import { loadConfig, type Config } from '../../config.ts';
import { openDatabase, openReplica } from '../../app/open-database.ts';
import { createDatabaseClock } from '../../platform/db/database-clock.ts';
import type { Deps } from '../../app/deps.ts';
import type { App } from '../../platform/http/app-type.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { startTracing } from '../../platform/lib/logging/start-tracing.ts';
import { systemClock } from '../../platform/lib/time/clock.ts';
import { bootstrapDefaultOrganization, createConsoleLink } from '../../app/bootstrap.ts';
import { buildWorkerServer } from '../../app/worker/worker-server.ts';
import { runWorkerLoops } from '../../app/worker/worker-loops.ts';
import { workerRoles, type WorkerRole } from '../../app/worker-roles.ts';
import { registerRoleMetric } from '../../app/metrics.ts';
import { cleanCopiesLoop } from '../../detection/log-compaction/clean-segments.ts';
import { startSyslogListener, type SyslogListener } from '../../detection/shippers/syslog-listener.ts';
import { claimLogStore } from '../../detection/log-store/log-store.ts';
import { checkDataDir, checkPort, checkSampleKeys, explainListenFailure } from './start-checks.ts';
import { printLines, printText } from '../support/output.ts';

type Part = 'serve' | 'work' | 'all';
/** `only` are the roles of the workers, all by default. */
type StartOptions = { adoptLogStore?: boolean | undefined; only?: readonly WorkerRole[] | undefined };

/**
 * Runs the API, workers or both until SIGTERM or SIGINT. Then stops listening and claiming, lets running steps end, and stops the embedded
 * PostgreSQL last. Throws if the log storage is not the one of the installation, unless `adoptLogStore`.
 */
export async function startCommand(part: Part, { adoptLogStore = false, only }: StartOptions = {}): Promise<number> {
  const config = loadConfig();
  const roles = part === 'serve' ? [] : (only ?? workerRoles);
  checkSampleKeys(config);
  checkDataDir(config);
  // Before the database, which would otherwise be created for a start that fails.
  if (part !== 'work') await checkPort(config);
  else if (config.workerPort !== 0) await checkPort({ ...config, port: config.workerPort, name: 'TOCSIN_WORKER_PORT' });
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopped.abort());
  const log = createLogger(config.logLevel);
  const tracing = config.isTraced ? await startTracing(log) : undefined;
  const database = await openDatabase(config, { exclusive: true, log: (line) => printLines(line) });
  try {
    printLines(`Data: ${config.dataDir}; database: ${database.location}`);
    await announceKey(database.db, config);
    const clock = await createDatabaseClock(database.db, log, stopped.signal);
    const db = await openReplica(database.db, config, { log, signal: stopped.signal });
    const { deps, stop } = buildDeps({ config, db, log, clock });
    try {
      await claimLogStore(database.db, deps.segmentStore, { adopt: adoptLogStore });
      await runPart(part, roles, deps, stopped.signal);
    } finally {
      await stop();
      await db.replica?.close();
    }
  } finally {
    await database.stop();
    await tracing?.stop();
  }
  return 0;
}

async function announceKey(db: Deps['db'], config: Config): Promise<void> {
  const key = await bootstrapDefaultOrganization({ db, clock: systemClock }, config.apiKey);
  if (key)
    printText(
      `Administrator key of the organization default, shown only once (create more with: npm run --silent tocsin -- key create --org default --name NAME):\n${key}`,
    );
}

async function runPart(part: Part, roles: readonly WorkerRole[], deps: Deps, signal: AbortSignal): Promise<void> {
  registerRoleMetric(deps.metrics.registry, roles);
  const app = part === 'work' ? await listenForHealth(deps) : await listen(deps);
  const syslog = part === 'work' ? [] : await listenForSyslog(deps, app);
  const work = runWorkerLoops(deps, signal, roles);
  const copies = cleanCopiesLoop(deps, signal);
  if (part === 'work') printLines(`Working: ${roles.join(', ')}. Stop with Ctrl-C.`);
  await untilAborted(signal);
  await waitForShutdown(Promise.all([app?.close(), ...syslog.map((listener) => listener.stop()), work, copies]));
}

/** Starts listening. Throws a short explanation if the port is in use. */
async function listen(deps: Deps): Promise<App> {
  const { port, host } = deps.config;
  const app = await buildApp(deps);
  try {
    const address = await app.listen({ port, host });
    printLines(`Tocsin listens on ${address} (reference: ${address}/docs)`);
    printLines(`Open the console, signed in (once, within five minutes): ${await createConsoleLink(deps.db, address)}`);
    return app;
  } catch (error) {
    await app.close();
    throw explainListenFailure({ port, host }, error);
  }
}

/** Starts the syslog listeners of the settings. If one cannot listen, none does, and the server stops. */
async function listenForSyslog(deps: Deps, app: App | undefined): Promise<SyslogListener[]> {
  const listeners: SyslogListener[] = [];
  for (const [name, settings] of Object.entries(deps.config.syslog)) {
    try {
      const listener = await startSyslogListener(deps, name, settings);
      listeners.push(listener);
      printLines(`Syslog listener ${name}: ${settings.tls ? 'tls' : 'tcp'}://${settings.host}:${listener.port}`);
    } catch (error) {
      await Promise.all([app?.close(), ...listeners.map((listener) => listener.stop())]);
      throw explainListenFailure({ ...settings, name: `the port of ${name} in TOCSIN_SYSLOG` }, error);
    }
  }
  return listeners;
}

/** Serves health and metrics of a worker if TOCSIN_WORKER_PORT is set. */
async function listenForHealth(deps: Deps): Promise<App | undefined> {
  const { workerPort: port, host } = deps.config;
  if (port === 0) return undefined;
  const app = buildWorkerServer(deps);
  try {
    printLines(`Health and metrics of the worker: ${await app.listen({ port, host })}`);
    return app;
  } catch (error) {
    await app.close();
    throw explainListenFailure({ port, host, name: 'TOCSIN_WORKER_PORT' }, error);
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}

const shutdownMaxMs = 15_000;

/** Waits for the work of a process that stops, for at most 15 seconds. */
export async function waitForShutdown(work: Promise<unknown>): Promise<void> {
  await Promise.race([work, untilAborted(AbortSignal.timeout(shutdownMaxMs))]);
}
