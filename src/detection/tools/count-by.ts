import { z } from 'zod';
import type { QueryGuide, QueryRow, QueryWindow } from '../siem/connector.ts';
import { countColumns, equalsText, type CountsQuery } from '../siem/dialects/dialect.ts';
import { containsHiddenField, isHiddenDataset, isHiddenField, hidesNothing } from '../siem/hidden-data.ts';
import { defineTool, type ToolSources } from './tool-definition.ts';
import { describeEmpty, explainRefusal, readSpan, refuse, searchLimits, spanInput } from './log-span.ts';
import { createResult, toRow, type ToolResult } from './tool-result.ts';

/** No name that needs quotes, so that it means the same in every language. */
export const datasetInput = z
  .string()
  .regex(/^[\w.:*-]{1,255}$/, 'must be the name of a dataset')
  .describe('As list_datasets returns it.');
const fieldInput = z
  .string()
  .regex(/^[^\p{C}"'`\\|;[\]{}_][^\p{C}"'`\\|;[\]{}]{0,254}$/u, 'must be the name of a field')
  .describe('As describe_dataset returns it, with dots for keys inside of objects.');

const stepsMax = 48;

export const countBy = defineTool({
  description:
    'Counts the events of a dataset by the values of a field, most frequent first, or by time if there is no field. Use it to ask who else, how often, and since when.',
  input: z.strictObject({
    dataset: datasetInput,
    field: fieldInput.optional(),
    where: z
      .array(z.strictObject({ field: fieldInput, value: z.string().min(1).max(500) }))
      .max(5)
      .default([])
      .describe('Count only events that have these values. Case does not matter.'),
    ...spanInput,
    limit: z.int().min(1).max(100).default(20),
  }),
  effect: 'read',
  source: 'events',
  seesOtherEntities: true,
  findUrlProblem: null,
  run: ({ dataset, field, where, limit, ...span }, sources, signal) => {
    const window = readSpan(span, sources.logs);
    const { guide } = sources.logs.connection;
    const request = { query: null, window, logs: sources.logs };
    if (!guide) return Promise.resolve(refuse(request, 'This SIEM has no counts. Use search_logs.'));
    const kept = findHidden(
      dataset,
      [...(field === undefined ? [] : [field]), ...where.map((one) => one.field)],
      sources,
    );
    if (kept !== undefined) return Promise.resolve(refuse(request, kept));
    const by = field === undefined ? { stepSeconds: chooseStep(window) } : { field };
    const conditions = where.map(({ field: name, value }) => equalsText(name, value));
    const counts = {
      where: { kind: 'all', of: conditions } as const,
      by,
      limit: field === undefined ? 100 : limit + 1,
    };
    return explainRefusal(request, () => count(dataset, counts, { guide, window, sources, signal }));
  },
});

/** Returns why a dataset or fields cannot be counted, if the organization keeps them from models. */
export function findHidden(dataset: string, fields: readonly string[], { hidden }: ToolSources): string | undefined {
  if (isHiddenDataset(dataset, hidden)) return `The organization keeps the dataset ${dataset} from models.`;
  if (!hidesNothing(hidden) && /[*:]/.test(dataset))
    return 'The organization keeps data from models, so that only one dataset can be counted.';
  const field = fields.find((name) => isHiddenField(name, hidden) || containsHiddenField(name, hidden));
  return field === undefined ? undefined : `The organization keeps the field ${field}, or a part of it, from models.`;
}

/** Returns the shortest step, in whole hours or days, of which a window has at most 48. */
export function chooseStep({ from, to }: Pick<QueryWindow, 'from' | 'to'>): number {
  const hours = (to.getTime() - from.getTime()) / 3_600_000;
  const step =
    [1 / 12, 1 / 4, 1, 3, 6, 12, 24].find((one) => hours / one <= stepsMax) ?? 24 * Math.ceil(hours / 24 / stepsMax);
  return step * 3_600;
}

type Counts = Pick<CountsQuery, 'where' | 'by' | 'limit'>;
type CountSources = Pick<ToolSources, 'hidden'> & { logs: Pick<ToolSources['logs'], 'connection'> };
type Counting = { guide: QueryGuide; window: QueryWindow; sources: CountSources; signal: AbortSignal };

/** Runs a query that code writes, and returns it with its rows. */
export async function runCounts(
  dataset: string,
  counts: Counts,
  { guide, window, sources, signal }: Counting,
): Promise<{ query: string; rows: QueryRow[] }> {
  const table = guide.tableOf(dataset);
  const query = guide.dialect.writeCounts({ table, time: guide.timeField, ...counts });
  const limits = searchLimits(sources, counts.limit);
  // The query names nothing that is hidden, so that a SIEM that cannot hide anything may run it.
  const { rows } = await sources.logs.connection.search(query, window, limits, signal);
  return { query, rows };
}

/** Returns the time of a group as ISO text. */
export function toGroupTime(value: unknown): string | null {
  const seconds =
    typeof value === 'number' || (typeof value === 'string' && /^[\d.]+$/.test(value)) ? Number(value) : undefined;
  const at = new Date(seconds === undefined ? String(value) : seconds * 1000);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

async function count(dataset: string, counts: Counts, counting: Counting): Promise<ToolResult> {
  const { window } = counting;
  const { query, rows } = await runCounts(dataset, counts, counting);
  const field = counts.by && 'field' in counts.by ? counts.by.field : undefined;
  const events = field === 'events' ? 'count' : 'events';
  const isMissing = (row: QueryRow): boolean => [null, undefined, ''].includes(row[countColumns.value] as null);
  const missing = field === undefined ? undefined : rows.find(isMissing);
  const groups = field === undefined ? rows : rows.filter((row) => !isMissing(row)).slice(0, counts.limit - 1);
  const hasEvents = rows.length > 0 || (await countAll(dataset, counting)) > 0;
  const notes = [
    ...(groups.length === 0 ? [describeEmpty(hasEvents)] : []),
    ...(missing ? [`${String(missing[countColumns.events])} of these events have no ${field}.`] : []),
  ];
  return createResult({
    query,
    from: window.from,
    to: window.to,
    rows: groups.map((row, index) => {
      const figure = { [events]: row[countColumns.events] };
      if (field !== undefined) return toRow(`${index + 1}`, { [field]: row[countColumns.value], ...figure });
      const time = toGroupTime(row[countColumns.time]);
      return toRow(time ?? `${index + 1}`, { from: time, ...figure }, time);
    }),
    kindOf: (name) => (name === events ? 'count' : field === undefined ? 'other' : 'value'),
    truncated: field !== undefined && rows.length >= counts.limit,
    hasEvents,
    note: notes.length === 0 ? undefined : notes.join(' '),
  });
}

async function countAll(dataset: string, counting: Counting): Promise<number> {
  const { rows } = await runCounts(dataset, { where: { kind: 'all', of: [] }, by: null, limit: 1 }, counting);
  return Number(rows[0]?.[countColumns.events] ?? 0);
}
