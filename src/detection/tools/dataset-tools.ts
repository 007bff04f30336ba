import { z } from 'zod';
import type { RenderedRow } from '../analysis/candidate.ts';
import { flattenRow, parseObject } from '../analysis/rows/fields.ts';
import { renderValue } from '../analysis/rows/render-row.ts';
import type { ColumnKind, DatasetFields, QueryGuide, QueryRow, QueryWindow } from '../siem/connector.ts';
import { countColumns } from '../siem/dialects/dialect.ts';
import { containsHiddenField, isHiddenDataset, isHiddenField, type HiddenData } from '../siem/hidden-data.ts';
import { chooseStep, datasetInput, findHidden, runCounts, toGroupTime } from './count-by.ts';
import { describeLanguage, explainRefusal, readSpan, refuse, searchLimits, spanInput } from './log-span.ts';
import { defineTool, type ToolSources } from './tool-definition.ts';
import { createResult, toRow, type ToolResult } from './tool-result.ts';

const everything = { kind: 'all', of: [] } as const;

export const listDatasets = defineTool({
  description:
    'Lists the datasets that search_logs can query, with their number of columns and, where the SIEM knows them, of events. Returns how to write a query.',
  input: z.strictObject({
    contains: z.string().max(100).optional().describe('Return only datasets whose name contains this text.'),
  }),
  effect: 'read',
  source: 'reference',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ contains = '' }, { logs: { connection }, hidden }, signal) => {
    const all = await connection.fields(signal);
    const portable = (await connection.portableFields?.()) ?? [];
    const isShown = ({ dataset }: DatasetFields): boolean =>
      !isHiddenDataset(dataset, hidden) && dataset.toLowerCase().includes(contains.toLowerCase());
    const names = portable.filter(isShown).map(({ dataset }) => dataset);
    const kinds: Record<string, ColumnKind> = { events: 'count', firstEventAt: 'least', lastEventAt: 'greatest' };
    return createResult({
      rows: all.filter(isShown).map(({ dataset, fields, events, firstEventAt, lastEventAt }) =>
        toRow(`dataset:${dataset}`, {
          dataset,
          columns: fields.filter(({ name }) => !isHiddenField(name, hidden)).length,
          events,
          firstEventAt,
          lastEventAt,
        }),
      ),
      kindOf: (name) => kinds[name] ?? 'other',
      note: [
        describeLanguage(connection),
        ...(names.length > 0 ? [`Datasets of portable queries: ${names.slice(0, 50).join(', ')}.`] : []),
      ].join(' '),
    });
  },
});

const sampleMax = 500;
const frequentMax = 5;
const valueCharsMax = 80;

export const describeDataset = defineTool({
  description:
    'Returns the columns of a dataset with their types and most frequent values, and its event counts by time. Use it before a query, to know which fields exist and when there is data.',
  input: z.strictObject({
    dataset: datasetInput,
    contains: z.string().max(100).optional().describe('Return only columns whose name contains this text.'),
    offset: z.int().min(0).max(10_000).default(0).describe('Columns to skip.'),
    ...spanInput,
  }),
  effect: 'read',
  source: 'events',
  seesOtherEntities: true,
  findUrlProblem: null,
  run: ({ dataset, contains, offset, ...span }, sources, signal) => {
    const { logs } = sources;
    const window = readSpan(span, logs);
    const request = { query: null, window, logs };
    const kept = findHidden(dataset, [], sources);
    if (kept !== undefined) return Promise.resolve(refuse(request, kept));
    return explainRefusal(request, () => describe(dataset, { contains, offset, window, sources, signal }));
  },
});

type Description = {
  contains: string | undefined;
  offset: number;
  window: QueryWindow;
  sources: ToolSources;
  signal: AbortSignal;
};

async function describe(
  dataset: string,
  { contains = '', offset, window, sources, signal }: Description,
): Promise<ToolResult> {
  const { connection } = sources.logs;
  const { guide } = connection;
  const listed = (await connection.fields(signal, dataset)).find((one) => one.dataset === dataset)?.fields ?? [];
  const columns = listed.filter(
    ({ name }) => !isHiddenField(name, sources.hidden) && name.toLowerCase().includes(contains.toLowerCase()),
  );
  const times = guide ? await countByTime(dataset, { guide, window, sources, signal }) : undefined;
  const hasEvents = times ? times.rows.length > 0 : null;
  const values = guide && hasEvents ? await sampleValues(dataset, { guide, window, sources, signal }) : new Map();
  const rows = columns
    .slice(offset)
    .map(({ name, type }) => toRow(`column:${name}`, { column: name, type, ...values.get(name) }));
  return createResult({
    query: times?.query ?? null,
    from: window.from,
    to: window.to,
    rows: [...(times?.rows ?? []), ...rows],
    kindOf: (name) => (name === 'events' ? 'count' : 'other'),
    hasEvents,
    note: describeNotes(dataset, { listed: listed.length, hasGuide: guide !== undefined, hasEvents }),
  });
}

function describeNotes(
  dataset: string,
  { listed, hasGuide, hasEvents }: { listed: number; hasGuide: boolean; hasEvents: boolean | null },
): string {
  if (listed === 0) return `No dataset is named ${dataset}. list_datasets returns all names.`;
  if (!hasGuide) return 'This SIEM returns no counts and no frequent values.';
  if (!hasEvents) return 'The dataset has no events in this time span. Try a longer one.';
  return `Shares and frequent values are those of the first ${sampleMax} events of the time span. count_by counts all of them.`;
}

type Reading = { guide: QueryGuide; window: QueryWindow; sources: ToolSources; signal: AbortSignal };

async function countByTime(dataset: string, reading: Reading): Promise<{ query: string; rows: RenderedRow[] }> {
  const by = { stepSeconds: chooseStep(reading.window) };
  const { query, rows } = await runCounts(dataset, { where: everything, by, limit: 100 }, reading);
  return {
    query,
    rows: rows.map((row, index) => {
      const time = toGroupTime(row[countColumns.time]);
      return toRow(`from:${time ?? index}`, { from: time, events: row[countColumns.events] }, time);
    }),
  };
}

type ColumnValues = { present: string; distinct: number; frequent: string };

/** Returns what the first events of a window have in their fields: the share of events with a value, and the most frequent values. */
async function sampleValues(
  dataset: string,
  { guide, window, sources, signal }: Reading,
): Promise<Map<string, ColumnValues>> {
  const query = guide.dialect.writeEvents({ table: guide.tableOf(dataset), time: guide.timeField, where: everything });
  const { rows } = await sources.logs.connection.search(query, window, searchLimits(sources, sampleMax), signal);
  const counts = new Map<string, Map<string, number>>();
  for (const row of rows)
    for (const [name, value] of readFields(row, guide, sources.hidden)) {
      const values = counts.get(name) ?? new Map<string, number>();
      counts.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  return new Map([...counts].map(([name, values]) => [name, toColumnValues(values, rows.length)]));
}

function toColumnValues(values: ReadonlyMap<string, number>, events: number): ColumnValues {
  const present = [...values.values()].reduce((sum, one) => sum + one, 0) / Math.max(1, events);
  const frequent = [...values].toSorted((a, b) => b[1] - a[1]).slice(0, frequentMax);
  const shown = frequent.map(([value, times]) => `${value.slice(0, valueCharsMax)} (${times})`);
  return { present: present.toFixed(2), distinct: values.size, frequent: shown.join(' · ') };
}

/** Returns the fields of an event that models may see, as text. */
function readFields(row: QueryRow, { eventField }: QueryGuide, hidden: HiddenData): [string, string][] {
  const event = (eventField === null ? undefined : parseObject(row[eventField])) ?? row;
  return flattenRow(event).flatMap(([name, value]): [string, string][] => {
    if (isHiddenField(name, hidden) || containsHiddenField(name, hidden)) return [];
    const text = renderValue(name, value);
    return text === undefined ? [] : [[name, text]];
  });
}
