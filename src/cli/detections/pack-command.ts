import { loadConfig } from '../../config.ts';
import { createServiceCall, type ServiceCall } from '../../detection/as-code/service-client.ts';
import { withPackFolder, detectionsFor, readPack, selectOrganizations } from '../../detection/packs/read-pack.ts';
import type { ApplyPack, PackResult, PackDetection } from '../../detection/packs/packs.schema.ts';
import { DetectionFileError } from '../../detection/managed/file-fields.ts';
import { readAllPages } from '../../platform/lib/page-request.ts';
import type { OrganizationList } from '../../platform/orgs/admin.schema.ts';
import { describeArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { printText } from '../support/output.ts';
import { showLine } from '../../platform/lib/text/show-text.ts';
import { renderChange } from '../../detection/as-code/plan.ts';

type PackOptions = {
  force?: boolean | undefined;
  prune?: boolean | undefined;
  check?: boolean | undefined;
  org?: string[] | undefined;
  json?: boolean | undefined;
};

const changesFoundExitCode = 3;

/** Prints what `apply` would change in each organization. With `--check`, exit code 3 if there is something. */
export async function planPack(place: string, options: PackOptions): Promise<number> {
  const reports = await runPack(place, options, { dryRun: true });
  print(reports, options, renderPlanOf);
  return exitCodeOf(reports, options.check ? ({ outcome }) => outcome !== 'none' : undefined);
}

/** Applies the pack to each organization. Exit code 1 if a detection or an organization failed. The others are applied. */
export async function applyPackCommand(place: string, options: PackOptions): Promise<number> {
  const reports = await runPack(place, options, { dryRun: false });
  print(reports, options, renderPlanOf);
  return exitCodeOf(reports);
}

/** Prints how each organization differs from the pack. Exit code 3 if one does. */
export async function driftOfPack(place: string, options: PackOptions): Promise<number> {
  const reports = await runPack(place, options, { dryRun: true });
  print(reports, options, renderDrift);
  return exitCodeOf(reports, isDrift);
}

async function runPack(place: string, options: PackOptions, mode: { dryRun: boolean }): Promise<PackReport[]> {
  const call = openAdministration();
  return withPackFolder(place, async (folder) => {
    const pack = readPack(folder);
    const selected = selectOrganizations(pack, await listOrganizations(call));
    const unknown = options.org?.find((name) => !selected.some((one) => one.name === name || one.id === name));
    if (unknown !== undefined)
      throw new UsageError(`--org ${unknown}: the pack is not for an organization of that name.`);
    const reports: PackReport[] = [];
    for (const organization of selected) {
      if (options.org && !options.org.includes(organization.name) && !options.org.includes(organization.id)) continue;
      const { id, name } = organization;
      const report = { organization: { id, name } };
      try {
        const { force = false, prune = false } = options;
        const body: ApplyPack = {
          version: pack.version,
          detections: detectionsFor(pack, organization),
          force,
          prune,
          ...mode,
        };
        const path = `/api/admin/organizations/${id}/packs/${pack.name}`;
        reports.push({ ...report, results: (await call<PackResult>('POST', path, { body })).body.results });
      } catch (error) {
        // A mistake in the pack concerns the operator. What fails in one organization does not stop the others.
        if (error instanceof DetectionFileError) throw error;
        reports.push({ ...report, error: describeArguments(error, packArguments) ?? (error as Error).message });
      }
    }
    return reports;
  });
}

const packArguments = { detections: (file = 'PLACE', ...field: string[]) => [file, ...field].join(': ') };

async function listOrganizations(call: ServiceCall): Promise<OrganizationList['organizations']> {
  const { entries } = await readAllPages(async (query) => {
    const path = `/api/admin/organizations?${new URLSearchParams(query).toString()}`;
    const { organizations, nextCursor } = (await call<OrganizationList>('GET', path)).body;
    return { entries: organizations, nextCursor };
  });
  return entries.toReversed();
}

function print(
  reports: readonly PackReport[],
  { json }: PackOptions,
  renderText: (reports: readonly PackReport[]) => string,
): void {
  if (json) printText(JSON.stringify(reports, null, 2));
  else printText(reports.length === 0 ? 'The pack is for no organization of this service.' : renderText(reports));
}

type Result = PackResult['results'][number];

function exitCodeOf(reports: readonly PackReport[], isFound?: (result: Result) => boolean): number {
  const results = reports.flatMap((report) => ('results' in report ? report.results : []));
  if (reports.some((report) => 'error' in report) || results.some(({ outcome }) => outcome === 'failed')) return 1;
  return isFound && results.some(isFound) ? changesFoundExitCode : 0;
}

function openAdministration(): ServiceCall {
  const { url, adminKey: key } = loadConfig();
  if (key === undefined)
    throw new UsageError(
      'Set TOCSIN_ADMIN_KEY to the key of the installation, and TOCSIN_URL to the address of the service.',
    );
  return createServiceCall({ url, key, setting: 'TOCSIN_ADMIN_KEY' });
}

/** The outcome of a pack in one organization: the results by file, or the reason why there are none. */
type PackReport = { organization: { id: string; name: string } } & (
  | { results: PackResult['results'] }
  | { error: string }
);

const signs = { created: '+', updated: '~', deleted: '-', failed: '!', none: ' ' } as const;
const stateNotes: Record<PackDetection['state'], string> = {
  unchanged: 'as in the pack',
  outdated: 'outdated',
  changed: 'changed by the organization',
  missing: 'missing',
  deleted: 'deleted by the organization',
  extra: 'no longer in the pack',
};

/** Renders what a pack does, or would do, in each organization. */
function renderPlanOf(reports: readonly PackReport[]): string {
  return render(reports, ({ outcome, state }) => outcome !== 'none' || state !== 'unchanged', renderPlanned);
}

/** Renders how each organization differs from the pack. */
function renderDrift(reports: readonly PackReport[]): string {
  return render(reports, isDrift, ({ file, state, changes, kept }) => [
    `  ${file}: ${stateNotes[state]}`,
    ...(state === 'changed' ? kept : changes).flatMap(renderChange).map((line) => `  ${line}`),
  ]);
}

/** Returns whether a detection differs from its pack. */
const isDrift = ({ state }: PackDetection): boolean => state !== 'unchanged';

function renderPlanned({ file, state, outcome, changes, kept, detail }: PackDetection): string[] {
  const note = outcome === 'none' || outcome === 'failed' ? `: ${detail ?? stateNotes[state]}` : '';
  return [
    `${signs[outcome]} ${file}${note}`,
    ...changes.flatMap(renderChange),
    ...kept.map(({ field }) => `    ${field}: kept, because the organization changed it`),
  ];
}

function render(
  reports: readonly PackReport[],
  isShown: (detection: PackDetection) => boolean,
  renderOne: (detection: PackDetection) => string[],
): string {
  const lines = reports.flatMap((report) => {
    const { name } = report.organization;
    if ('error' in report) return [`${name}: failed: ${report.error}`];
    return [`${name}: ${summarize(report.results)}`, ...report.results.filter(isShown).flatMap(renderOne)];
  });
  return lines.map(showLine).join('\n');
}

function summarize(results: readonly PackDetection[]): string {
  const states = [...Map.groupBy(results, ({ state }) => state)].map(([state, list]) => `${list.length} ${state}`);
  return states.length === 0 ? 'no detections' : states.join(', ');
}
