import { buildDeps } from '../../app/build-deps.ts';
import type { Deps } from '../../app/deps.ts';
import type { Config } from '../../config.ts';
import { type InstalledConnection, listConnectionsAcrossOrgs } from '../../detection/connections/connections.store.ts';
import { openFolder } from '../../detection/shippers/pull-folder.ts';
import { findWriter } from '../../detection/shippers/receive-shipper-body.ts';
import type { FolderSettings } from '../../detection/shippers/shipper-settings.ts';
import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { runModelCheck } from '../../platform/models/check/check-model.ts';
import { builtInAliases, createModels, type Models } from '../../platform/models/models.ts';
import { createIdentityProvider } from '../../platform/orgs/single-sign-on/identity-provider.ts';

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
export async function checkDependencies(config: Config, db: Db): Promise<Check[]> {
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
