import { historySuffix, isDatasetName } from '../../log-store/catalog/catalog.ts';
import { queryCharsMax, type LogEngine } from '../../log-engine/process/engine.ts';
import { authorError, queryNotAllowed } from '../../log-engine/engine-failures.ts';
import type { ListTable } from '../../log-engine/queries/protocol.ts';
import type { DatasetField, QuerySources } from '../../siem/connector.ts';
import { isCorrelationQuery, readLookbackMs } from '../../siem/query-text.ts';
import { findCorrelationPart } from '../../log-engine/inspection/cross-event-part.ts';
import type { Inspection } from '../../log-engine/inspection/inspection.ts';

const datasetsMax = 20;
const timeoutMs = 10_000;

/** A table name in a query. `history`: the name is `<dataset>_history` and stands for the events before the window. */
export type QuerySource = { name: string; dataset: string; history: boolean };

/** A query that passed the allow-lists, and what it reads. `lookbackMs`: how far before the window its history reaches, if it says so. */
export type InspectedQuery = {
  query: string;
  inspection: Inspection;
  sources: QuerySource[];
  lists: ListTable[];
  lookbackMs?: number | undefined;
};

/** Parses a query and checks it against the allow-lists. Throws query_not_allowed and query_error. */
export async function inspectQuery(
  { engine }: { engine: LogEngine },
  organization: string,
  query: string,
  signal?: AbortSignal,
): Promise<InspectedQuery> {
  if (query.length > queryCharsMax)
    throw queryNotAllowed(`The query is too long. At most ${queryCharsMax} characters are allowed.`);
  if (query.includes('\u0000') || !query.isWellFormed())
    throw queryNotAllowed('The query contains U+0000 or a lone surrogate, which are not allowed.');
  const inspection = await engine.inspect(organization, query, { timeoutMs, ...(signal ? { signal } : {}) });
  const sources = findSources(inspection);
  const lists = await readLists(engine, organization, inspection.lists);
  const lookbackMs = readLookbackMs(query);
  if (!isCorrelationQuery(query)) return { query, inspection, sources, lists, lookbackMs };
  const crossEventPart = findCorrelationPart(inspection, distinctDatasets(sources));
  return { query, inspection: { ...inspection, crossEventPart }, sources, lists, lookbackMs };
}

async function readLists(engine: LogEngine, organization: string, names: readonly string[]): Promise<ListTable[]> {
  if (names.length === 0) return [];
  const lists = await engine.readLists(organization, names);
  const missing = names.find((name) => !lists.some((list) => list.name === name));
  if (missing !== undefined) throw authorError('query_error', `The value list ${missing} does not exist.`);
  return lists;
}

/** Returns what a query reads. Throws query_not_allowed and query_error. */
export async function readQuerySources(
  deps: { engine: LogEngine },
  organization: string,
  query: string,
  signal?: AbortSignal,
): Promise<QuerySources> {
  const { sources, inspection } = await inspectQuery(deps, organization, query, signal);
  const datasetByTable = new Map(sources.map(({ name, dataset }) => [name, dataset]));
  const fields = inspection.outputs.flatMap((output): [string, DatasetField][] => {
    const dataset = output.origin && datasetByTable.get(output.origin.table);
    return 'star' in output || !dataset || output.origin!.keys.length === 0
      ? []
      : [[output.name, { dataset, field: output.origin!.keys.join('.') }]];
  });
  return { datasets: distinctDatasets(sources), fields: new Map(fields) };
}

function findSources(inspection: Inspection): QuerySource[] {
  const sources = inspection.tables.map((name): QuerySource => {
    const history = name.endsWith(historySuffix);
    const dataset = history ? name.slice(0, -historySuffix.length) : name;
    if (!isDatasetName(dataset))
      throw queryNotAllowed(`"${name}" is not a valid dataset name. A query reads datasets by name.`);
    return { name, dataset, history };
  });
  const datasets = distinctDatasets(sources).length;
  if (datasets > datasetsMax)
    throw queryNotAllowed(`The query reads ${datasets} datasets. At most ${datasetsMax} are allowed.`);
  return sources;
}

export const distinctDatasets = (sources: QuerySource[]): string[] => [
  ...new Set(sources.map((source) => source.dataset)),
];
