import { setTimeout } from 'node:timers/promises';
import { createServiceCall, type ServiceCall } from '../../detection/as-code/service-client.ts';
import type { ImportProgress } from '../../detection/detections/bulk/bulk.schema.ts';
import type {
  AppliedUpdate,
  RuleSource,
  RuleSourceList,
  RuleUpdate,
} from '../../detection/rule-sources/rule-sources.schema.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { rejectArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { createProgress, printError, printResult } from '../support/output.ts';
import { readServiceAccess } from '../support/service-access.ts';

type JsonOption = { json?: boolean | undefined };
type SettingOptions = { level?: string | undefined; status?: string[] | undefined };
type AddOptions = JsonOption & SettingOptions & { name?: string | undefined };
type ApplyOptions = JsonOption & SettingOptions & { dryRun?: boolean | undefined; removeMissing?: boolean | undefined };

const openService = (): ServiceCall => createServiceCall(readServiceAccess());
const pathOf = ({ id }: RuleSource): string => `/api/rule-sources/${id}`;

/** Prints the rule sources of a service with their versions, and the packages that can be added by name. */
export async function listRuleSourcesCommand({ json }: JsonOption): Promise<number> {
  const { ruleSources, packages } = (await openService()<RuleSourceList>('GET', '/api/rule-sources')).body;
  const present = new Set(ruleSources.map(({ url }) => url));
  return printResult(json, { ruleSources, packages }, [
    ...ruleSources.flatMap((source) => renderSource(source)),
    ...packages
      .filter(({ url }) => !present.has(url))
      .map(({ url, title, description }) => `not added  ${url}  ${title}: ${description}`),
  ]);
}

/** Adds a rule source, waits until its address is read, and prints what an import would change. */
export async function addRuleSource(url: string, { name, level, status, json }: AddOptions): Promise<number> {
  const call = openService();
  const body = { url, name: name ?? url, ...toSettings({ level, status }) };
  const { body: added } = await call<RuleSource>('POST', '/api/rule-sources', { body }).catch(
    rejectArguments({ ...settingNames, url: 'ADDRESS', name: '--name' }),
  );
  const source = await untilChecked(call, added);
  if (source.available === null || source.failure !== null) return reportFailure(json, source);
  return printUpdate(json, source, await readUpdate(call, source));
}

/** Checks the addresses of the named sources, or of all, and prints what changed. Exit code 1 if one cannot be read. */
export async function checkRuleSourcesCommand(names: readonly string[], { json }: JsonOption): Promise<number> {
  const call = openService();
  const checked: RuleSource[] = [];
  for (const source of await findSources(call, names)) {
    const { body: before } = await call<RuleSource>('POST', `${pathOf(source)}/check`);
    checked.push(await untilChecked(call, before, before.checkedAt));
  }
  printResult(json, checked, checked.length === 0 ? ['There is no rule source.'] : checked.flatMap(renderSource));
  return checked.some(({ failure }) => failure !== null) ? 1 : 0;
}

/** Imports the newest version of a source, and stores the level and the statuses that options set. Exit code 1 if a rule fails. */
export async function applyRuleSource(
  nameOrId: string,
  { level, status, dryRun, removeMissing = false, json }: ApplyOptions,
): Promise<number> {
  const settings = toSettings({ level, status });
  if (dryRun && Object.keys(settings).length > 0)
    throw new UsageError('--dry-run changes no settings. Leave out --level and --status.');
  const call = openService();
  const [found] = await findSources(call, [nameOrId]);
  const source =
    Object.keys(settings).length === 0
      ? found!
      : (await call<RuleSource>('PUT', pathOf(found!), { body: settings }).catch(rejectArguments(settingNames))).body;
  const update = await readUpdate(call, source);
  if (dryRun) return printUpdate(json, source, update);
  const report = createProgress(process.stderr, 'rules');
  const onProgress = (progress: unknown): void => {
    const { phase, rulesDone, rulesTotal } = progress as ImportProgress;
    if (rulesTotal !== null) report(rulesDone, rulesTotal, phase);
  };
  const body = { version: update.version, removeMissing };
  const { body: applied } = await call<AppliedUpdate>('POST', `${pathOf(source)}/update`, { body, onProgress });
  const { created, updated, removed, failed } = applied;
  for (const { name, detail } of failed) printError(`failed     ${name}: ${detail}`);
  printResult(json, applied, [
    `${source.name}  version ${applied.version}: ${created} created, ${updated} updated, ${removed} deleted, ${failed.length} failed`,
  ]);
  return failed.length > 0 ? 1 : 0;
}

/** Deletes a rule source. Its detections stay. */
export async function removeRuleSourceCommand(nameOrId: string, { json }: JsonOption): Promise<number> {
  const call = openService();
  const [source] = await findSources(call, [nameOrId]);
  const { body: removed } = await call<RuleSource>('DELETE', pathOf(source!));
  return printResult(json, removed, [`removed  ${removed.name}: its detections stay`]);
}

const settingNames = { minLevel: '--level', statuses: '--status' };

const toSettings = ({ level, status }: SettingOptions) => ({
  ...(level === undefined ? {} : { minLevel: level }),
  ...(status === undefined ? {} : { statuses: status }),
});

/** Returns the sources with these names or IDs, or all without names. */
async function findSources(call: ServiceCall, names: readonly string[]): Promise<RuleSource[]> {
  const { ruleSources } = (await call<RuleSourceList>('GET', '/api/rule-sources')).body;
  if (names.length === 0) return ruleSources;
  return names.map((wanted) => {
    const found = ruleSources.find(({ id, name }) => name === wanted || id === wanted.toLowerCase());
    if (found) return found;
    const known = ruleSources.map(({ name }) => name);
    throw new UsageError(`There is no rule source ${wanted}${didYouMean(wanted, known)}`);
  });
}

const pollMs = 500;
const checkSecondsMax = 120;

/** Waits until a source was checked after `before`, at most two minutes. */
async function untilChecked(call: ServiceCall, source: RuleSource, before: string | null = null): Promise<RuleSource> {
  const untilMs = Date.now() + checkSecondsMax * 1_000;
  let current = source;
  while (current.checkedAt === before) {
    if (Date.now() > untilMs)
      throw new Error(`${source.name} was not checked in ${checkSecondsMax} seconds. Is a worker running?`);
    await setTimeout(pollMs);
    current = (await call<RuleSource>('GET', pathOf(source))).body;
  }
  return current;
}

const readUpdate = async (call: ServiceCall, source: RuleSource): Promise<RuleUpdate> =>
  (await call<RuleUpdate>('GET', `${pathOf(source)}/update`)).body;

function renderSource({ id, name, url, version, available, failure, rules, enabled }: RuleSource): string[] {
  const newest = available === null ? 'not read yet' : `newest ${available}`;
  const state = available !== null && available !== version ? `${newest}, not imported` : newest;
  return [
    `${id}  ${name}  ${url}  ${rules} rules  version ${version ?? 'none'}, ${state}${enabled ? '' : ', not checked'}`,
    ...(failure === null ? [] : [`  the last check failed: ${failure}`]),
  ];
}

function reportFailure(json: boolean | undefined, source: RuleSource): number {
  printResult(json, source, renderSource(source));
  return 1;
}

/** More rules than this are not listed. */
const shownMax = 20;

function printUpdate(json: boolean | undefined, source: RuleSource, update: RuleUpdate): number {
  const { version, created, updated, removed, unchanged, leftOut } = update;
  const { byLevel, byStatus, notConverted, withoutLogs, missingLogs } = leftOut;
  const noisy = [...created, ...updated]
    .filter(({ matches24h }) => matches24h !== null && matches24h > 0)
    .toSorted((a, b) => b.matches24h! - a.matches24h!);
  const missing = missingLogs.slice(0, 5).map(({ logSource, rules }) => `${logSource} (${rules})`);
  return printResult(json, { ruleSource: source, update }, [
    `${source.name}  version ${version}: ${created.length} new, ${updated.length} changed, ${removed.length} no longer there, ${unchanged} unchanged`,
    `left out: ${withoutLogs} without logs, ${byLevel} by level, ${byStatus} by status, ${notConverted} not converted`,
    ...(missing.length > 0 ? [`logs that would add the most rules: ${missing.join(', ')}`] : []),
    ...noisy
      .slice(0, shownMax)
      .map(({ name, level, matches24h }) => `  ${matches24h} events in 24 hours  ${level}  ${name}`),
    ...(noisy.length > shownMax ? [`  ${noisy.length - shownMax} more rules have matches`] : []),
    ...removed.slice(0, shownMax).map(({ name }) => `  no longer there  ${name}`),
    `Import them with: tocsin rule-sources apply ${JSON.stringify(source.name)}`,
  ]);
}
