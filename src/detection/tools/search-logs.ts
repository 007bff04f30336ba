import { z } from 'zod';
import type { RenderedRow } from '../analysis/candidate.ts';
import { hidesNothing } from '../siem/hidden-data.ts';
import type { ColumnKind, QueryRow, QueryWindow, SearchResult } from '../siem/connector.ts';
import { isPortableQuery } from '../siem/query-text.ts';
import { defineTool, type LogSource, type ToolSources } from './tool-definition.ts';
import { describeEmpty, explainRefusal, readSpan, refuse, searchLimits, spanInput } from './log-span.ts';
import { createResult, type ToolResult } from './tool-result.ts';

export const searchLogs = defineTool({
  description:
    'Runs a read-only query over any dataset of the same logs. Returns at most 100 rows. Query the events themselves or plain aggregates of them: a constant or a computed column cannot be cited. list_datasets returns how to write a query.',
  alias: 'search_siem',
  input: z.strictObject({
    query: z.string().min(1).max(5_000).describe("A query in the language of the detection's own query."),
    ...spanInput,
  }),
  effect: 'read',
  source: 'events',
  seesOtherEntities: true,
  findUrlProblem: null,
  run: ({ query, ...span }, sources, signal) => {
    const { logs } = sources;
    const window = readSpan(span, logs);
    const refusal = findRefusal(query, sources);
    if (refusal !== undefined) return Promise.resolve(refuse({ query, window, logs }, refusal));
    return explainRefusal({ query, window, logs }, () => search(query, { window, sources, signal }));
  },
});

/** A SIEM does not know what is hidden, so that only queries can run whose tables code fills. */
function findRefusal(query: string, { logs: { connection }, hidden }: ToolSources): string | undefined {
  if (hidesNothing(hidden) || connection.canHide || (connection.portableFields && isPortableQuery(query)))
    return undefined;
  const instead = connection.portableFields ? 'Write a portable query, or use count_by.' : 'Use count_by.';
  return `The organization keeps some fields or datasets from models, which the SIEM cannot leave out of a query of its own. ${instead}`;
}

type Search = { window: QueryWindow; sources: ToolSources; signal: AbortSignal };

async function search(query: string, { window, sources, signal }: Search): Promise<ToolResult> {
  const { logs } = sources;
  const found = await logs.connection.search(query, window, searchLimits(sources), signal);
  const kindOfColumn = readKinds(query, found, logs);
  const { from, to } = window;
  const rendered = found.rows.map((row) =>
    logs.render(stripSystemColumns(row, kindOfColumn), { from, to, aggregate: found.aggregate }),
  );
  const hasEvents = await findWhetherEvents(query, found, { window, sources, signal });
  const notes = (found.warnings ?? []).slice(0, 3).map(({ detail }) => detail);
  if (rendered.length === 0) notes.push(describeEmpty(hasEvents));
  return createResult({
    query,
    from,
    to,
    rows: renameRepeats(rendered),
    names: found.columns?.filter((name) => !name.startsWith('_')) ?? [],
    kindOf: columnReader(kindOfColumn, found.columns ?? Object.keys(found.rows[0] ?? {})),
    total: found.total,
    truncated: found.truncated,
    hasEvents,
    note: notes.length === 0 ? undefined : notes.join(' '),
  });
}

/** Returns a function that returns what a column has. The kinds of a query in the language of a SIEM are known only of whole events. */
function readKinds(
  query: string,
  { columns = [], kinds, aggregate }: SearchResult,
  { connection: { guide } }: LogSource,
): (column: string) => ColumnKind {
  if (kinds) {
    const byName = new Map(columns.map((name, index) => [name, kinds[index] ?? 'other']));
    return (column) => byName.get(column) ?? 'other';
  }
  const kind = !aggregate && guide?.returnsEvents(query) ? 'value' : 'other';
  return () => kind;
}

const isCount = (kind: ColumnKind): boolean => kind === 'count' || kind === 'countDistinct';

/** Looks for events only if the result needs them to mean something: if it has no rows, or a count of zero. */
async function findWhetherEvents(
  query: string,
  { rows, columns = [], kinds = [] }: SearchResult,
  { window, sources, signal }: Search,
): Promise<boolean | null> {
  const counts = columns.filter((_, index) => isCount(kinds[index] ?? 'other'));
  const hasZero = rows.some((row) => counts.some((name) => Number(row[name]) === 0));
  if (rows.length > 0 && !hasZero) return kinds.some((kind) => kind !== 'other') ? true : null;
  return (await sources.logs.connection.hasEvents?.(query, window, signal)) ?? null;
}

/** Returns a row without the columns that identify an event and its time, unless they are those of an event: a query can write them itself. */
function stripSystemColumns(row: QueryRow, kindOf: (column: string) => ColumnKind): QueryRow {
  const entries = Object.entries(row).filter(([name]) => !name.startsWith('_') || kindOf(name) === 'value');
  return Object.fromEntries(entries);
}

/** Returns a function that returns what a field of a rendered row has, from the column that it is or is inside of. */
function columnReader(
  kindOf: (column: string) => ColumnKind,
  columns: readonly string[],
): (field: string) => ColumnKind {
  return (field) => {
    const column = columns.find((name) => field === name || field.startsWith(`${name}.`));
    // The fields of a row that has nothing but the event come from inside of it.
    return kindOf(column ?? '_event');
  };
}

/** Gives rows that have the same ID, such as those of a join, IDs of their own. */
function renameRepeats(rows: readonly RenderedRow[]): RenderedRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const times = (seen.get(row.rowId) ?? 0) + 1;
    seen.set(row.rowId, times);
    return times === 1 ? row : { ...row, rowId: `${row.rowId}#${times}` };
  });
}
