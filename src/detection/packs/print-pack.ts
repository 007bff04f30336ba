import { showLine } from '../../platform/lib/text/show-text.ts';
import { renderChange } from '../as-code/plan.ts';
import type { PackDetection, PackResult } from './packs.schema.ts';

/** The outcome of a pack in one organization: the results by file, or the reason why there are none. */
export type PackReport = { organization: { id: string; name: string } } & (
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
export function renderPlanOf(reports: readonly PackReport[]): string {
  return render(reports, ({ outcome, state }) => outcome !== 'none' || state !== 'unchanged', renderPlanned);
}

/** Renders how each organization differs from the pack. */
export function renderDrift(reports: readonly PackReport[]): string {
  return render(reports, isDrift, ({ file, state, changes, kept }) => [
    `  ${file}: ${stateNotes[state]}`,
    ...(state === 'changed' ? kept : changes).flatMap(renderChange).map((line) => `  ${line}`),
  ]);
}

/** Returns whether a detection differs from its pack. */
export const isDrift = ({ state }: PackDetection): boolean => state !== 'unchanged';

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
