import type { ConnectionList } from '../../detection/connections/connections.schema.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { createServiceCall, type ServiceCall } from '../../detection/as-code/service-client.ts';
import type {
  InstallResult,
  LibraryDetection,
  LibraryList,
  UpdateResult,
} from '../../detection/library/library.schema.ts';
import { rejectArguments, type BodyArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { readServiceAccess } from '../support/service-access.ts';
import { printLines, printText } from '../support/output.ts';

type InstallOptions = {
  ready?: boolean | undefined;
  dataset?: string[] | undefined;
  connection?: string | undefined;
  dryRun?: boolean | undefined;
};

/** Prints the shipped detections by log source, with the state of each. */
export async function listLibrary(values: {
  ready?: boolean | undefined;
  json?: boolean | undefined;
}): Promise<number> {
  const { logSources } = await readLibrary(openService());
  if (values.json) {
    printText(JSON.stringify(logSources, null, 2));
    return 0;
  }
  for (const { product, service, setup, detections } of logSources) {
    const listed = detections.filter(({ isReady }) => isReady || !values.ready);
    if (listed.length === 0) continue;
    printLines(`${product}: ${service}${setup.length === 0 ? '' : ` (${setup.join(' ')})`}`);
    for (const detection of listed)
      printLines(`  ${detection.id.padEnd(38)} ${describeState(detection).padEnd(34)} ${detection.name}`);
  }
  return 0;
}

function describeState({ installed, isReady, datasets }: LibraryDetection): string {
  if (installed) {
    const edits = installed.editedFields.length === 0 ? '' : `, edited: ${installed.editedFields.join(', ')}`;
    return `${installed.isCurrent ? 'installed' : 'installed, new version'}${edits}`;
  }
  if (isReady) return 'ready';
  const missing = datasets.filter(({ isPresent }) => !isPresent).map(({ dataset }) => dataset);
  const fields = datasets.flatMap((one) => one.fields.filter(({ isPresent }) => !isPresent).map(({ name }) => name));
  return `needs ${missing.length > 0 ? missing.join(', ') : `fields ${fields.join(', ')}`}`;
}

/** Installs shipped detections in a running service. Exit code 1 if one of them failed. */
export async function installLibrary(ids: string[], values: InstallOptions): Promise<number> {
  if (ids.length > 0 === (values.ready === true))
    throw new UsageError('Pass the IDs of detections, or --ready for all whose logs are present.');
  const call = openService();
  const selected = values.ready ? await listReadyIds(call) : ids;
  if (selected.length === 0) {
    printLines('No detection of the library is ready and not installed.');
    return 0;
  }
  const connectionId = values.connection === undefined ? undefined : await findConnectionId(call, values.connection);
  const body = {
    ids: selected,
    datasets: parseDatasets(values.dataset ?? []),
    ...(connectionId === undefined ? {} : { connectionId }),
    dryRun: values.dryRun ?? false,
  };
  const { results } = (
    await call<InstallResult>('POST', '/api/detections/library/install', { body }).catch(
      rejectArguments({ ...idArguments(selected), datasets: nameDataset(body.datasets), connectionId: '--connection' }),
    )
  ).body;
  for (const { id, outcome, detail } of results)
    printLines(`${outcome.padEnd(10)} ${id}${detail ? `: ${detail}` : ''}`);
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

/** Returns the ID of the connection with this name or ID. */
async function findConnectionId(call: ServiceCall, name: string): Promise<string> {
  const { connections } = (await call<ConnectionList>('GET', '/api/connections')).body;
  const found = connections.find((one) => one.name === name || one.id === name.toLowerCase());
  if (found) return found.id;
  const hint = didYouMean(
    name,
    connections.map((one) => one.name),
  );
  throw new UsageError(`There is no connection ${name}${hint}`);
}

/** Updates installed detections of a running service. Exit code 1 if one of them failed. */
export async function updateLibrary(ids: string[], values: Pick<InstallOptions, 'dryRun'>): Promise<number> {
  const body = { ...(ids.length > 0 ? { ids } : {}), dryRun: values.dryRun ?? false };
  const { results } = (
    await openService()<UpdateResult>('POST', '/api/detections/library/update', { body }).catch(
      rejectArguments(idArguments(ids)),
    )
  ).body;
  for (const { id, outcome, detail, changes, kept } of results) {
    printLines(`${outcome.padEnd(10)} ${id}${detail ? `: ${detail}` : ''}`);
    for (const { field } of changes) printLines(`  ${field}: changed to the shipped version`);
    for (const { field } of kept) printLines(`  ${field}: kept, because you edited it`);
  }
  if (results.length === 0) printLines('Every installed detection is current.');
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

async function listReadyIds(call: ServiceCall): Promise<string[]> {
  const { logSources } = await readLibrary(call);
  return logSources
    .flatMap(({ detections }) => detections)
    .filter(({ isReady, installed }) => isReady && installed === null)
    .map(({ id }) => id);
}

const readLibrary = async (call: ServiceCall): Promise<LibraryList> =>
  (await call<LibraryList>('GET', '/api/detections/library')).body;

function parseDatasets(pairs: string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name, own, ...rest] = pair.split('=');
      if (!name || !own || rest.length > 0)
        throw new UsageError(`--dataset needs NAME=YOURS, such as windows=winlogbeat, not "${pair}".`);
      return [name, own];
    }),
  );
}

const idArguments = (ids: readonly string[]): BodyArguments => ({
  ids: (index) => (index === undefined ? 'ID' : `ID ${ids[Number(index)]}`),
});

const nameDataset =
  (datasets: Readonly<Record<string, string>>) =>
  (name?: string): string =>
    name === undefined ? '--dataset' : `--dataset ${name}=${datasets[name]}`;

const openService = (): ServiceCall => createServiceCall(readServiceAccess());
