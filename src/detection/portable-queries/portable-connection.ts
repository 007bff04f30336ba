import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { inspectQuery, type InspectedQuery } from '../log-query/search/inspect-query.ts';
import { openForeignStore, type FixtureDeps, type ForeignEvent } from '../log-query/search/fixture-store.ts';
import type { Expression } from '../matching/expression.ts';
import type {
  DatasetField,
  DatasetFields,
  QuerySources,
  QueryWindow,
  SearchLimits,
  SearchResult,
  SiemConnection,
} from '../siem/connector.ts';
import { queryCharsMax, isPortableQuery, readLookbackMs } from '../siem/query-text.ts';
import { type RemoteSiemType, findConnector, readTimeField } from '../siem/connectors/registry.ts';
import { authorError, dataDependentError } from '../siem/siem-errors.ts';
import { UnsupportedError } from '../siem/dialects/dialect.ts';
import { createNameOf, type PortableDataset, toExpression, readEvents } from './to-expression.ts';

/** `datasets` and `timeField` are settings of the connection. */
export type PortableTarget = {
  kind: RemoteSiemType;
  datasets: Readonly<Record<string, PortableDataset>>;
  timeField: string;
};

/** Reads what portable queries need from the settings of a connection. */
export function readPortableTarget(kind: RemoteSiemType, settings: unknown): PortableTarget {
  const { datasets = {} } = settings as Partial<PortableTarget>;
  return { kind, datasets, timeField: readTimeField(kind, settings) };
}

/** Most events of a window that a portable query reads from one dataset. */
const eventsMax = 100_000;
const fieldsMs = 60_000;
const checkMs = 30_000;
const everything: Expression = { kind: 'all', of: [] };

/** `isEarlier`: the query reads the events before the window. */
type NativeQuery = { dataset: string; placed: PortableDataset; query: string; isEarlier: boolean };

type Search = { query: string; window: QueryWindow; limits: SearchLimits };
type EventsByDataset = Record<string, readonly ForeignEvent[]>;
type Warnings = NonNullable<SearchResult['warnings']>;
type FetchedEvents = { events: EventsByDataset; earlier: EventsByDataset; warnings: Warnings; noData: boolean };

/** `listFields` lists the fields of a table or index of the SIEM. */
type PortableContext = {
  connection: SiemConnection;
  deps: FixtureDeps;
  target: PortableTarget;
  listFields: (source: string) => Promise<DatasetFields[]>;
};

/**
 * Returns a connection that also runs portable queries: the SIEM returns the events of the window that can matter, in its own language, and
 * the embedded engine runs the query on them. So a query has the same result on every SIEM.
 */
export function withPortableQueries(
  connection: SiemConnection,
  deps: FixtureDeps,
  target: PortableTarget,
): SiemConnection {
  const context: PortableContext = { connection, deps, target, listFields: createFieldList(connection) };
  return {
    ...connection,
    portableFields: () => listPortableFields(context),
    search: (query, window, limits, signal) =>
      isPortableQuery(query)
        ? search(context, { query, window, limits }, signal)
        : connection.search(query, window, limits, signal),
    check: (query, signal) =>
      isPortableQuery(query) ? check(context, query, signal) : connection.check(query, signal),
    ...(connection.sourcesOf && {
      sourcesOf: (query, signal) =>
        isPortableQuery(query) ? readSources(context, query, signal) : connection.sourcesOf!(query, signal),
    }),
  };
}

/** Returns what a portable query reads, in the names of the SIEM. */
async function readSources(context: PortableContext, query: string, signal: AbortSignal): Promise<QuerySources> {
  const { deps, target, listFields } = context;
  const inspected = await inspectQuery(deps, deps.organization, query, signal);
  const fields = new Map<string, DatasetField>();
  const read = findDatasets(inspected, target);
  for (const { name, placed } of read) {
    const nameOf = createNameOf(target.kind, placed, await listFields(placed.source));
    for (const output of inspected.inspection.outputs) {
      const { origin } = output;
      if ('star' in output || origin?.table !== name || origin.keys.length === 0) continue;
      const field = nameOf({ keys: origin.keys, isExact: false });
      if (typeof field === 'string') fields.set(output.name, { dataset: placed.source, field });
    }
  }
  return { datasets: [...new Set(read.map(({ placed }) => placed.source))], fields };
}

async function search(context: PortableContext, input: Search, signal: AbortSignal): Promise<SearchResult> {
  const began = performance.now();
  const { warnings, noData, ...events } = await fetchEvents(context, input, signal);
  const result = await runOn(context, events, input, signal);
  return {
    ...result,
    noData,
    early: noData,
    ms: performance.now() - began,
    warnings: [...warnings, ...keepWarnings(result)],
  };
}

async function check(context: PortableContext, query: string, signal: AbortSignal) {
  const queries = await planQueries(context, query, signal);
  for (const native of queries) await context.connection.check(native.query, signal);
  const now = new Date();
  const limits = { rowsMax: 1, groupsMax: 1, timeoutMs: checkMs };
  const window: QueryWindow = { from: now, to: now, clock: 'event' };
  const noEvents = { events: Object.fromEntries(queries.map(({ dataset }) => [dataset, []])), earlier: {} };
  const { columns = null } = await runOn(context, noEvents, { query, window, limits }, signal);
  return { noData: false, columns, warnings: [] };
}

async function listPortableFields({ target, listFields }: PortableContext): Promise<DatasetFields[]> {
  const found: DatasetFields[] = [];
  for (const [dataset, { source, event }] of Object.entries(target.datasets)) {
    const listed = event === undefined ? await listFields(source) : [];
    found.push({ dataset, fields: listed.find((one) => one.dataset === source)?.fields ?? [] });
  }
  return found;
}

/** Fetches the events of each dataset from the SIEM, all within the time limit of the search. */
async function fetchEvents(
  context: PortableContext,
  { query, window, limits }: Search,
  signal: AbortSignal,
): Promise<FetchedEvents> {
  const { connection, target } = context;
  const began = performance.now();
  const fetched: FetchedEvents = { events: {}, earlier: {}, warnings: [], noData: true };
  const before = { ...window, from: new Date(window.from.getTime() - (readLookbackMs(query) ?? 0)), to: window.from };
  for (const native of await planQueries(context, query, signal)) {
    const leftMs = Math.max(1, Math.ceil(limits.timeoutMs - (performance.now() - began)));
    const nativeLimits = { rowsMax: eventsMax, groupsMax: eventsMax, timeoutMs: leftMs };
    const bounds = native.isEarlier ? before : window;
    const found = await connection.search(native.query, bounds, nativeLimits, signal);
    if (found.truncated) throw tooManyEvents(native.dataset);
    const { events, skipped } = readEvents(found.rows, { ...target, dataset: native.placed });
    fetched[native.isEarlier ? 'earlier' : 'events'][native.dataset] = events;
    fetched.noData &&= found.noData;
    fetched.warnings.push(...(found.warnings ?? []), ...describeSkipped(native.dataset, skipped));
  }
  return fetched;
}

/** Writes a query of the SIEM for each dataset that a portable query reads. */
async function planQueries(context: PortableContext, query: string, signal: AbortSignal): Promise<NativeQuery[]> {
  const { deps, target, listFields } = context;
  const inspected = await inspectQuery(deps, deps.organization, query, signal);
  const queries: NativeQuery[] = [];
  for (const { name, dataset, placed, isEarlier } of findDatasets(inspected, target)) {
    const listed = await listFields(placed.source);
    const where = toWhere(inspected, { name, placed, listed }, target);
    const events = { table: placed.source, time: target.timeField, where };
    queries.push({ dataset, placed, isEarlier, query: findConnector(target.kind).dialect.writeEvents(events) });
  }
  return queries;
}

/** Runs a query on events in the embedded engine. */
async function runOn(
  { deps }: PortableContext,
  events: Pick<FetchedEvents, 'events' | 'earlier'>,
  { query, window, limits }: Search,
  signal: AbortSignal,
): Promise<SearchResult> {
  const undatedMicros = window.from.getTime() * 1000;
  const store = await openForeignStore(deps, { ...events, fields: new Map(), undatedMicros });
  try {
    return await store.searchAll(query, window, limits, signal);
  } finally {
    await store.close();
  }
}

/**
 * Lists the fields of a SIEM. Remembers them for a minute, but not longer than a window waits for its events, so that a field that an event of
 * the window has brought is known. The list is shared, so no caller ends it.
 */
function createFieldList(connection: SiemConnection): (source: string) => Promise<DatasetFields[]> {
  const known = new Map<string, { atMs: number; fields: Promise<DatasetFields[]> }>();
  const keptMs = Math.min(fieldsMs, connection.delayMs);
  return (source) => {
    const existing = known.get(source);
    if (existing && performance.now() - existing.atMs < keptMs) return existing.fields;
    const fields = connection.fields(undefined, source);
    known.set(source, { atMs: performance.now(), fields });
    fields.catch(() => known.delete(source));
    return fields;
  };
}

function findDatasets({ sources, lookbackMs }: InspectedQuery, { datasets }: PortableTarget) {
  return sources.map(({ name, dataset, history }) => {
    if (history && lookbackMs === undefined)
      throw authorError(
        'query_not_allowed',
        `A portable query reads the events of its window, not ${name}, unless its second line says how far back, such as -- lookback 900s.`,
      );
    const placed = datasets[dataset];
    if (placed) return { name, dataset, placed, isEarlier: history };
    const hint = didYouMean(dataset, Object.keys(datasets));
    const message = `The setting datasets of the connection does not say where ${dataset} is${hint}`;
    throw authorError('unknown_dataset', message);
  });
}

function toWhere(
  { inspection }: InspectedQuery,
  { name, placed, listed }: { name: string; placed: PortableDataset; listed: readonly DatasetFields[] },
  { kind, timeField }: PortableTarget,
): Expression {
  const write = (where: Expression): string =>
    findConnector(kind).dialect.writeEvents({ table: placed.source, time: timeField, where });
  const canWrite = (where: Expression): boolean => {
    try {
      write(where);
      return true;
    } catch (error) {
      if (error instanceof UnsupportedError) return false;
      throw error;
    }
  };
  const nameOf = createNameOf(kind, placed, listed);
  const where = toExpression(inspection.filters[name]!, { nameOf, canWrite }) ?? everything;
  return shorten(where, (part) => write(part).length);
}

/** Leaves out conditions, the longest ones first, until the query is as short as connections require. */
function shorten(where: Expression, lengthOf: (where: Expression) => number): Expression {
  if (lengthOf(where) <= queryCharsMax) return where;
  const parts = (where.kind === 'all' ? where.of : [where]).toSorted((a, b) => lengthOf(a) - lengthOf(b));
  while (parts.length > 0 && lengthOf({ kind: 'all', of: parts }) > queryCharsMax) parts.pop();
  return { kind: 'all', of: parts };
}

const tooManyEvents = (dataset: string) =>
  dataDependentError(
    'too_many_events',
    `More than ${eventsMax} events of ${dataset} in the window meet the conditions that the SIEM can apply. Add conditions on single fields to the query, or write it in the language of the SIEM.`,
  );

const describeSkipped = (dataset: string, skipped: number): Warnings =>
  skipped === 0
    ? []
    : [
        {
          code: 'skipped_events',
          detail: `${skipped} events of ${dataset} are too large or nested too deeply to be examined.`,
        },
      ];

/** Leaves out warnings about unknown columns: if the events of one window lack a column, those of the dataset may have it. */
const keepWarnings = ({ warnings = [] }: SearchResult) => warnings.filter(({ code }) => code !== 'unknown_column');
