import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import { explainFailure } from '../../app/open-database.ts';
import { connectDirectly } from '../../platform/db/server-address.ts';
import { findLogStoreFault } from '../../detection/log-store/log-store.ts';
import { createSegmentStore } from '../../detection/log-store/files/create-segment-store.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { acrossOrgs, openDb, type Db } from '../../platform/db/db.ts';
import { openReadReplica } from '../../platform/db/read-replica.ts';
import { findMigrationObstacle } from '../../platform/db/roles.ts';
import { findMigrationFault, isMigrated } from '../../platform/db/migrate.ts';
import { buildDeps } from '../../app/build-deps.ts';
import type { Deps } from '../../app/deps.ts';
import { type InstalledConnection, listConnectionsAcrossOrgs } from '../../detection/connections/connections.store.ts';
import { openFolder } from '../../detection/shippers/pull-folder.ts';
import { findWriter } from '../../detection/shippers/receive-shipper-body.ts';
import type { FolderSettings } from '../../detection/shippers/shipper-settings.ts';
import { runModelCheck } from '../../platform/models/check/check-model.ts';
import { builtInAliases, createModels, type Models } from '../../platform/models/models.ts';
import { createIdentityProvider } from '../../platform/orgs/single-sign-on/identity-provider.ts';

const clockDifferenceMaxMs = 5_000;

/** Checks the database, and everything else that needs it. Neither creates nor migrates a database. */
export async function checkDatabase(config: Config): Promise<Check[]> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== undefined) return checkServer(config, databaseUrl);
  if (!existsSync(join(dataDir, 'pg')) && !existsSync(join(dataDir, 'location')))
    return [ok('database', 'none yet: the first start creates it in the data directory')];
  try {
    const { startEmbeddedPostgres } = await import('../../platform/embedded-postgres/embedded-postgres.ts');
    const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined });
    return await checkServer(config, server.url).finally(() => server.stop());
  } catch (error) {
    return [failed('database', messageOf(error), 'Correct the cause and run tocsin doctor again.')];
  }
}

async function checkServer(config: Config, url: string): Promise<Check[]> {
  const direct = config.databaseDirectUrl ?? url;
  let client;
  try {
    client = await connectDirectly(direct, 'tocsin-doctor');
  } catch (error) {
    const advice = 'Correct DATABASE_URL or start the server.';
    return [failed('database', messageOf(explainFailure(config, direct, error)), advice)];
  }
  const checks = [await checkUse(client), await checkClock(client)];
  const obstacle = await findMigrationObstacle(client);
  if (obstacle !== undefined) checks.push(failed('permissions', obstacle, 'Then run tocsin doctor again.'));
  await client.end();
  const db = openDb({ url, isPooled: direct !== url });
  try {
    if (direct !== url) checks.push(await checkPooler(config, db, url));
    if (config.databaseReplicaUrl !== undefined) checks.push(await checkReplica(db, config.databaseReplicaUrl));
    return [...checks, ...(await checkMigrated(config, db))];
  } finally {
    await db.destroy();
  }
}

async function checkPooler(config: Config, db: Db, url: string): Promise<Check> {
  try {
    await acrossOrgs(db, (tx) => sql`select 1`.execute(tx));
    return ok('pooler', 'DATABASE_URL runs transactions on the server');
  } catch (error) {
    return failed('pooler', messageOf(explainFailure(config, url, error)), 'Correct DATABASE_URL or start the pooler.');
  }
}

async function checkReplica(db: Db, url: string): Promise<Check> {
  const replica = openReadReplica(db, url);
  await replica.check();
  const fault = replica.fault();
  await replica.close();
  return fault === null
    ? ok('replica', 'DATABASE_REPLICA_URL shows what was written to the database')
    : failed(
        'replica',
        fault,
        'Reads use the database meanwhile. Correct DATABASE_REPLICA_URL, or repair the replica.',
      );
}

async function checkUse(client: pg.Client): Promise<Check> {
  const { rows } = await client.query<{ version: string; used: number; most: number }>(
    `select current_setting('server_version') as version, (select count(*)::int from pg_stat_activity) as used,
       current_setting('max_connections')::int as most`,
  );
  const { version, used, most } = rows[0]!;
  const detail = `PostgreSQL ${version}, ${used} of ${most} connections in use`;
  return used > most * 0.9
    ? warning('database', detail, 'Raise max_connections or put PgBouncer in front.')
    : ok('database', detail);
}

/** Slots follow the clock of the database, which therefore has to be right. */
async function checkClock(client: pg.Client): Promise<Check> {
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
  const differenceMs = Math.abs(rows[0]!.now.getTime() - Date.now());
  const detail = `the clocks of this machine and the database differ by ${(differenceMs / 1000).toFixed(1)} s`;
  return differenceMs > clockDifferenceMaxMs
    ? warning('clock', detail, 'Synchronize both with NTP. Schedules follow the clock of the database.')
    : ok('clock', detail);
}

async function checkLogStore(config: Config, db: Db): Promise<Check> {
  const store = createSegmentStore(config, { log: createLogger('silent') });
  const advice = 'Set TOCSIN_LOGS_URL and TOCSIN_DATA_DIR as in the other processes.';
  try {
    const fault = await findLogStoreFault(db, store);
    if (fault !== undefined) return failed('log storage', fault, advice);
    await store.probe();
    return ok('log storage', `${store.location} is the one of this installation and can be written and read`);
  } catch (error) {
    return failed('log storage', messageOf(error), 'Correct TOCSIN_LOGS_URL, the credentials or the permissions.');
  } finally {
    store.close();
  }
}

async function checkMigrated(config: Config, db: Db): Promise<Check[]> {
  const fault = await findMigrationFault(db).catch(() => undefined);
  if (fault !== undefined) return [failed('migrations', fault, 'The service does not start with this database.')];
  const migrated = await isMigrated(db).catch(() => false);
  if (!migrated)
    return [
      warning(
        'migrations',
        'the database is not migrated to this version',
        'Run tocsin migrate, or start the service.',
      ),
    ];
  return [
    ok('migrations', 'the database is migrated to this version'),
    await checkLogStore(config, db),
    ...(await checkDependencies(config, db)),
  ];
}

/** The result of one check. `advice` says what to do about a warning or failure. */
export type Check = { name: string; status: 'ok' | 'warning' | 'failed'; detail: string; advice?: string };

export const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail });
export const warning = (name: string, detail: string, advice: string): Check => ({
  name,
  status: 'warning',
  detail,
  advice,
});
export const failed = (name: string, detail: string, advice: string): Check => ({
  name,
  status: 'failed',
  detail,
  advice,
});

/** Returns the message of an error, or its code where a driver leaves the message empty. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code ?? error.name) : String(error);

const timeoutMs = 20_000;

/** Checks that every SIEM connection of every organization, every log folder, every configured model and the identity provider respond. */
async function checkDependencies(config: Config, db: Db): Promise<Check[]> {
  const { deps, stop } = buildDeps({ config, db, log: createLogger('silent') });
  try {
    const connections = await acrossOrgs(db, listConnectionsAcrossOrgs);
    const models = createModels(config.models, db);
    const aliases = models.aliases.filter((alias) => !builtInAliases.includes(alias) || models.find(alias));
    return [
      ...(connections.length === 0 ? [ok('connections', 'none besides the embedded log store')] : []),
      ...(await Promise.all(connections.map((connection) => checkConnection(deps, connection)))),
      ...(await Promise.all(
        Object.entries(config.logFolders).map(([name, folder]) => checkLogFolder(deps, name, folder)),
      )),
      ...(aliases.length === 0 ? [ok('models', 'none: the built-in analyst gives the verdicts')] : []),
      ...(await Promise.all(aliases.map((alias) => checkModel(models, alias)))).flat(),
      ...(config.oidc ? [await checkIdentityProvider(config.oidc, config.fetchAllow)] : []),
    ];
  } finally {
    await stop();
  }
}

async function checkConnection({ connectionFor }: Deps, { orgId, id, label }: InstalledConnection): Promise<Check> {
  try {
    const connection = await connectionFor(orgId, { connectionId: id, siemType: null });
    await connection.ping(AbortSignal.timeout(timeoutMs));
    return ok('connection', `${label} responds`);
  } catch (error) {
    return failed('connection', `${label}: ${messageOf(error)}`, 'Correct the connection, or the server behind it.');
  }
}

async function checkLogFolder({ auth, clock }: Deps, name: string, settings: FolderSettings): Promise<Check> {
  const folder = await openFolder(settings.location);
  try {
    await findWriter(auth, settings.key);
    for await (const _page of folder.list(clock())) break;
    return ok('log folder', `${name} can be listed`);
  } catch (error) {
    return failed(
      'log folder',
      `${name}: ${messageOf(error)}`,
      'Correct it in TOCSIN_LOG_FOLDERS, or its credentials.',
    );
  } finally {
    folder.close();
  }
}

/** Calls the alias as detections do, which costs as much as a few verdicts. */
async function checkModel(models: Models, alias: string): Promise<Check[]> {
  const free = { checkBudget: () => Promise.resolve(), recordStep: () => Promise.resolve() };
  const {
    ok: works,
    model,
    latencyMs,
    checks,
  } = await runModelCheck({ model: models.find(alias)!, ...free }, models.abilities);
  if (works) return [ok('model', `${alias} (${model}) works, and answers in ${latencyMs} ms`)];
  return checks
    .filter((check) => !check.ok)
    .map(({ name, detail, remedy }) => failed('model', `${alias} (${model}), ${name}: ${detail}`, remedy ?? ''));
}

async function checkIdentityProvider(oidc: NonNullable<Config['oidc']>, fetchAllow: string[]): Promise<Check> {
  const name = 'single sign-on';
  try {
    await createIdentityProvider(oidc, fetchAllow).start('/console/');
    return ok(name, `${oidc.issuer} describes itself`);
  } catch (error) {
    return failed(
      name,
      `${oidc.issuer}: ${messageOf(error)}`,
      'Correct TOCSIN_OIDC_ISSUER, or list a private provider in TOCSIN_FETCH_ALLOW.',
    );
  }
}
