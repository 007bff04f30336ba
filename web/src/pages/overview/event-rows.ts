import type { LinkProps } from '@tanstack/react-router';
import type { LiveEvent } from '../../api/overview.ts';
import { texts as page } from '../../texts/overview.ts';
import { severities, type Severity } from '../../ui/labels/severity.tsx';

const texts = page.activity;

export type EventRow = {
  key: string;
  title: string;
  detail: string | undefined;
  at: string;
  severity: Severity | undefined;
  isBad: boolean;
  link: LinkProps;
};

const bad = new Set([
  'run.failed',
  'detection.disabled',
  'gap.opened',
  'connection.paused',
  'model.paused',
  'quota.reached',
  'feed.source.failed',
]);

/** Turns events into lines, newest first. Completed runs that follow each other and found nothing become one line. */
export function toEventRows(events: readonly LiveEvent[], labels: ReadonlyMap<string, string>): EventRow[] {
  const rows: EventRow[] = [];
  let quiet = { runs: 0, rows: 0 };
  for (const event of events) {
    const isQuiet = event.type === 'run.completed' && event.data['hitCount'] === 0;
    quiet = isQuiet
      ? { runs: quiet.runs + 1, rows: quiet.rows + Number(event.data['rowsTotal']) }
      : { runs: 0, rows: 0 };
    if (quiet.runs > 1)
      Object.assign(rows.at(-1)!, { title: texts.runs(quiet.runs), detail: texts.runDetail(quiet.rows, 0) });
    else rows.push({ ...toRow(event), title: labels.get(event.type) ?? event.type });
  }
  return rows;
}

function toRow({ id, type, timestamp, data }: LiveEvent): Omit<EventRow, 'title'> {
  return {
    key: id,
    detail: detailOf(type, data),
    at: timestamp,
    severity: severityOf(type, data),
    isBad: bad.has(type),
    link: linkOf(type, data),
  };
}

type Data = LiveEvent['data'];
const textOf = (data: Data, ...names: string[]): string =>
  names.map((name) => data[name]).find((value): value is string => typeof value === 'string' && value !== '') ?? '';

function detailOf(type: string, data: Data): string | undefined {
  if (type === 'run.completed') return texts.runDetail(Number(data['rowsTotal']), Number(data['hitCount']));
  if (type === 'run.failed') return (data['failure'] as { message?: string } | null)?.message;
  // The headline of a detection is a template. Only a hit has words in it.
  if (type.startsWith('hit.')) return textOf(data, 'headline');
  if (type.startsWith('feed.item.')) return textOf((data['event'] ?? {}) as Data, 'title');
  return textOf(data, 'title', 'name', 'alias', 'dataset', 'reason', 'id');
}

function severityOf(type: string, data: Data): Severity | undefined {
  if (!type.startsWith('hit.') && !type.startsWith('feed.item.')) return undefined;
  const found = (data['severity'] ?? (data['event'] as Data | undefined)?.['severity']) as Severity;
  return severities.includes(found) ? found : undefined;
}

function linkOf(type: string, data: Data): LinkProps {
  const id = textOf(data, 'id');
  const [subject, part] = type.split('.');
  switch (subject) {
    case 'hit':
      return { to: '/hits/$id', params: { id } };
    case 'run':
      return { to: '/runs/$id', params: { id } };
    case 'detection':
      return { to: '/detections/$id', params: { id } };
    case 'gap':
      return { to: '/detections/$id', params: { id: textOf(data, 'detectionId') } };
    case 'suggestion':
      return { to: '/suggestions' };
    case 'dataset':
      return { to: '/logs', search: { dataset: textOf(data, 'dataset', 'name') } };
    case 'feed':
      return part === 'item' ? { to: '/feed/$id', params: { id } } : { to: '/sources', search: { source: id } };
    case 'model':
      return { to: '/settings/models' };
    default:
      return { to: '/settings/connections' };
  }
}
