import { inOrg, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { SiemError, type QueryWindow, type SearchLimits, type SearchResult } from '../siem/connector.ts';
import { loadCatalogue } from './catalogue-store.ts';
import { mergeFields, type Field } from './catalogue.ts';
import { columnsOf, listDatasets } from './datasets.ts';
import { historySuffix, isDatasetName } from './dataset-name.ts';
import { authorError, missingColumn, notAllowed } from './engine/failures.ts';
import type { Inspection } from './engine/inspect.ts';
import { didYouMean, nearestNames } from '../lib/nearest.ts';
import type { QueryJob } from './engine/protocol.ts';
import { rewriteNested } from './engine/rewrite.ts';
import { queryCharsMax } from './engine/engine.ts';
import { namesUsed, tableSql, type Part } from './engine/tables.ts';
import { folderOf, type SearchDeps } from './log-deps.ts';
import { sealDatasets } from './publish.ts';
import { findDatasets, listDatasetNames, listSegments, type SegmentFilter, type SegmentRow } from './segment-store.ts';
import { historyFilter, partsOf, windowFilter } from './window-parts.ts';

const datasetsPerQuery = 20;
const bytesMax = 64 * 1024 * 1024;

/** A name that a query reads: the dataset it stands for, and whether it is what lies before the window. */
type Source = { name: string; dataset: string; history: boolean };
/** Events that are searched in place of the organization's own: their files, and the columns that they have. */
export type GivenEvents = { segments: SegmentRow[]; fields: Map<string, Field[]> };

type Held = { fields: Map<string, Field[]>; parts: Map<string, Part[]>; others: string[] };

/**
 * Runs a query over one window of the organization's events. On the clock `ingest` its datasets are sealed at the window's end first, so that
 * nothing can appear in the window afterwards. A dataset that never had an event is empty, and the result says `noData`.
 * Throws a SiemError: query_not_allowed, query_error, unknown_column, query_timeout, query_memory (blame author), engine_failed (blame us).
 */
export async function searchLogs(
  deps: SearchDeps,
  orgId: OrgId,
  input: { query: string; window: QueryWindow; limits: SearchLimits; given?: GivenEvents },
  signal?: AbortSignal,
): Promise<SearchResult> {
  const { query, window, limits, given } = input;
  const began = performance.now();
  const { inspection, held, empty, job } = await planSearch(deps, orgId, { query, window, given }, signal);
  const warnings = empty.map(
    (dataset) => `The dataset ${dataset} never had an event${didYouMean(dataset, held.others)}`,
  );
  const nothing = (): SearchResult => ({ ...emptyResult(inspection), ms: performance.now() - began, warnings });
  if (empty.length > 0 && held.fields.size === 0) return nothing();
  try {
    const rowsMax = inspection.aggregate ? limits.groupsMax : limits.rowsMax;
    const run = { timeoutMs: limits.timeoutMs, ...(signal ? { signal } : {}) };
    const result = await deps.engine.query(orgId, { ...job(), rowsMax }, run);
    return {
      ...result,
      aggregate: isAggregate(inspection, result.rows),
      noData: empty.length > 0,
      ms: performance.now() - began,
      warnings,
    };
  } catch (error) {
    const known = named(error, held);
    if (empty.length > 0 && isAboutColumns(known)) return nothing();
    throw known;
  }
}

type Plan = { inspection: Inspection; held: Held; empty: string[]; job: () => QueryJob };

/**
 * What a search does before the engine runs it: the query is inspected, its window sealed, its segments listed. `empty` are its datasets
 * that never had an event; `job` is what the engine is asked (throws `unknown_column` for a dotted name that no event has).
 */
export async function planSearch(
  deps: SearchDeps,
  orgId: OrgId,
  { query, window, given }: { query: string; window: QueryWindow; given?: GivenEvents | undefined },
  signal?: AbortSignal,
): Promise<Plan> {
  const inspection = await inspectQuery(deps, orgId, query, signal);
  const sources = sourcesOf(inspection);
  if (window.clock === 'ingest' && !given) {
    await inOrg(deps.db, orgId, (tx) => sealDatasets(tx, orgId, datasetsOf(sources), window.to));
  }
  const folder = folderOf(deps.config.dataDir, orgId);
  const held = await inOrg(deps.db, orgId, (tx) => hold(tx, orgId, { sources, window, folder, given }));
  const empty = datasetsOf(sources).filter((dataset) => !held.fields.has(dataset));
  return { inspection, held, empty, job: () => jobOf(query, inspection, { sources, held, window }) };
}

/** Checks a query without its rows: it is parsed, held against the allow-lists and bound to the datasets' columns. Throws as `searchLogs`. */
export async function checkLogsQuery(
  deps: SearchDeps,
  orgId: OrgId,
  query: string,
  signal?: AbortSignal,
): Promise<void> {
  const inspection = await inspectQuery(deps, orgId, query, signal);
  const sources = sourcesOf(inspection);
  const now = deps.clock();
  const window: QueryWindow = { from: now, to: now, clock: 'event' };
  const held = await inOrg(deps.db, orgId, (tx) => hold(tx, orgId, { sources, window, folder: '' }));
  if (datasetsOf(sources).some((dataset) => !held.fields.has(dataset))) return;
  held.parts.clear();
  try {
    const job = jobOf(query, inspection, { sources, held, window });
    await deps.engine.query(orgId, { ...job, mode: 'check' }, { timeoutMs: 10_000, ...(signal ? { signal } : {}) });
  } catch (error) {
    throw named(error, held);
  }
}

/** The time of the oldest event of the datasets that a query reads; null where they have none. Throws as `searchLogs`. */
export async function firstEventAt(
  deps: SearchDeps,
  orgId: OrgId,
  query: string,
  signal?: AbortSignal,
): Promise<Date | null> {
  const datasets = datasetsOf(sourcesOf(await inspectQuery(deps, orgId, query, signal)));
  const states = await inOrg(deps.db, orgId, (tx) => findDatasets(tx, orgId, datasets));
  const times = states.flatMap((state) => (state.firstEventAt === null ? [] : [state.firstEventAt.getTime()]));
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** The names of the datasets that a query reads. Throws query_not_allowed. */
export async function datasetsRead(
  deps: SearchDeps,
  orgId: OrgId,
  query: string,
  signal?: AbortSignal,
): Promise<string[]> {
  return datasetsOf(sourcesOf(await inspectQuery(deps, orgId, query, signal)));
}

/** The datasets with their columns, as a connection tells them. */
export async function logFields(
  deps: SearchDeps,
  orgId: OrgId,
): Promise<{ dataset: string; fields: { name: string; type: string }[] }[]> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns }) => ({ dataset: name, fields: columns }));
}

async function inspectQuery(
  deps: SearchDeps,
  orgId: OrgId,
  query: string,
  signal: AbortSignal | undefined,
): Promise<Inspection> {
  if (query.length > queryCharsMax) throw notAllowed(`A query has at most ${queryCharsMax} characters.`);
  if (query.includes('\u0000') || !query.isWellFormed())
    throw notAllowed('A query is text without U+0000 and lone surrogates.');
  return deps.engine.inspect(orgId, query, { timeoutMs: 10_000, ...(signal ? { signal } : {}) });
}

function sourcesOf(inspection: Inspection): Source[] {
  const sources = inspection.tables.map((name): Source => {
    const history = name.endsWith(historySuffix);
    const dataset = history ? name.slice(0, -historySuffix.length) : name;
    if (!isDatasetName(dataset)) throw notAllowed(`"${name}" is no dataset: a query reads datasets by name.`);
    return { name, dataset, history };
  });
  if (datasetsOf(sources).length > datasetsPerQuery)
    throw notAllowed(`A query reads at most ${datasetsPerQuery} datasets.`);
  return sources;
}

const datasetsOf = (sources: Source[]): string[] => [...new Set(sources.map((source) => source.dataset))];

/** What the query's datasets hold now: their columns, and the files that the window needs and no others. */
async function hold(
  tx: Tx,
  orgId: OrgId,
  input: { sources: Source[]; window: QueryWindow; folder: string; given?: GivenEvents | undefined },
): Promise<Held> {
  const { sources, window, folder, given } = input;
  const held: Held = { fields: new Map(), parts: new Map(), others: [] };
  const states = (await findDatasets(tx, orgId, datasetsOf(sources))).filter((state) => state.events > 0);
  for (const { name, version } of states) held.fields.set(name, await loadCatalogue(tx, orgId, name, version));
  for (const [name, seen] of given?.fields ?? [])
    held.fields.set(name, mergeFields(held.fields.get(name) ?? [], seen).fields);
  for (const history of [false, true]) {
    const wanted = sources.filter((source) => source.history === history && held.fields.has(source.dataset));
    if (wanted.length === 0) continue;
    const filter: SegmentFilter = history ? historyFilter(window) : windowFilter(window);
    const segments = given?.segments ?? (await listSegments(tx, orgId, datasetsOf(wanted), filter));
    for (const { name, dataset } of wanted)
      held.parts.set(
        name,
        partsOf(
          filter,
          segments.filter((segment) => segment.dataset === dataset),
          folder,
        ),
      );
  }
  if (states.length < datasetsOf(sources).length) held.others = await listDatasetNames(tx, orgId);
  return held;
}

function jobOf(
  query: string,
  inspection: Inspection,
  input: { sources: Source[]; held: Held; window: QueryWindow },
): QueryJob {
  const { sources, held, window } = input;
  const only = namesUsed(inspection);
  const tables = sources.map(({ name, dataset }) => {
    const columns = (held.fields.get(dataset) ?? []).map((field, position) => ({ field, position }));
    const parts = held.parts.get(name) ?? [];
    return { name, sql: tableSql({ columns, parts, eventAsText: inspection.eventAsText && only !== undefined, only }) };
  });
  return {
    sql: rewriteNested(query, inspection, [...held.fields.values()].flat()),
    tables,
    bounds: { from: window.from.toISOString(), to: window.to.toISOString() },
    aggregate: inspection.aggregate,
    mode: 'rows',
    rowsMax: 0,
    bytesMax,
  };
}

// Groups that name their events by `_id` are rows of events all the same.
function isAggregate(inspection: Inspection, rows: Record<string, unknown>[]): boolean {
  return inspection.aggregate && !(rows[0] && '_id' in rows[0]);
}

function emptyResult(inspection: Inspection): Omit<SearchResult, 'ms' | 'warnings'> {
  return { rows: [], total: 0, truncated: false, aggregate: inspection.aggregate, noData: true };
}

/** An engine's word about a column that is missing becomes `unknown_column` with the nearest names. */
function named(error: unknown, held: Held): unknown {
  if (!(error instanceof SiemError) || error.failure.kind !== 'query_error') return error;
  const column = missingColumn(error.failure.message);
  if (column === undefined) return error;
  const names = [...new Set([...held.fields.values()].flatMap((fields) => columnsOf(fields).map(({ name }) => name)))];
  const near = nearestNames(column, names);
  const list = near.length === 0 && names.length <= 30 ? `; there are ${names.join(', ')}.` : didYouMean(column, names);
  return authorError('unknown_column', `No column is named ${column}${list}`);
}

const isAboutColumns = (error: unknown): boolean =>
  error instanceof SiemError && (error.failure.kind === 'unknown_column' || /[Aa]mbiguous/.test(error.failure.message));
