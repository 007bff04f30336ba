import { buildApp } from '../app/http-server.ts';
import { buildDeps } from '../app/build-deps.ts';
import { loadConfig, type Config } from '../config.ts';
import { openDatabase } from '../app/open-database.ts';
import { databaseClock } from '../platform/db/database-clock.ts';
import type { Deps } from '../app/deps.ts';
import type { App } from '../platform/http/app-type.ts';
import { createLogger } from '../platform/lib/logger.ts';
import { systemClock } from '../platform/lib/clock.ts';
import { prepareDefault } from '../app/bootstrap.ts';
import { runWorker } from '../app/worker-loops.ts';
import { readArgs, UsageError } from './read-args.ts';

export type Role = 'serve' | 'work' | 'all';

/** Runs a role until SIGTERM or SIGINT: stop claims and listening, let steps end, pool, our PostgreSQL last. */
export async function startCommand(role: Role, args: string[]): Promise<number> {
  if (readArgs(args, {}, `tocsin ${role}`).words.length > 0) throw new UsageError(`Usage: tocsin ${role}`);
  const config = loadConfig();
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopped.abort());
  const database = await openDatabase(config, { exclusive: true, log: (line) => console.log(line) });
  try {
    console.log(`Data: ${config.dataDir}; database: ${database.location}`);
    await announceKey(database.db, config);
    const log = createLogger(config.logLevel);
    const clock = await databaseClock(database.db, log, stopped.signal);
    const { deps, stop } = buildDeps({ config, db: database.db, log, clock });
    try {
      await runRole(role, deps, stopped.signal);
    } finally {
      await stop();
    }
  } finally {
    await database.stop();
  }
  return 0;
}

async function announceKey(db: Deps['db'], config: Config): Promise<void> {
  const key = await prepareDefault({ db, clock: systemClock }, config.apiKey);
  if (key)
    console.log(
      `Administrator key of the organization default, shown this once (more: npm run --silent tocsin -- key create --org default --name NAME):\n${key}`,
    );
}

async function runRole(role: Role, deps: Deps, signal: AbortSignal): Promise<void> {
  const app = role === 'work' ? undefined : await listen(deps, deps.config.port);
  const work = role === 'serve' ? Promise.resolve() : runWorker(deps, signal);
  if (role === 'work') console.log('Working. Stop with Ctrl-C.');
  await aborted(signal);
  await withinMs(deps.config.shutdownMs, Promise.all([app?.close(), work]));
}

/** Listens, or says in one sentence what stands in the way. */
export async function listen(deps: Deps, port: number): Promise<App> {
  const app = await buildApp(deps);
  try {
    const address = await app.listen({ port, host: deps.config.host });
    console.log(`Tocsin listens on ${address} (reference: ${address}/docs)`);
    return app;
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`port ${port} is in use, set PORT`, { cause: error });
    throw error;
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}

export async function withinMs(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = AbortSignal.timeout(ms);
  await Promise.race([work, aborted(timer)]);
}
