import type { Caller } from '../../../platform/http/caller.ts';
import { listCatalogColumns, type Column } from '../../log-store/catalog/columns.ts';
import type { SearchLogsDeps } from '../search/search-logs.ts';
import { openDataset, queryDataset } from './explore-dataset.ts';
import type { ExploreQuery, FieldStatistics } from './explore.schema.ts';

const fieldsMax = 300;
const sampleMax = 5000;
const topMax = 10;
const valueCharsMax = 200;

/** Columns whose values say nothing by their frequency. */
const unique = new Set(['_id', '_time', '_ingested']);
const hasTop = ({ name, type }: Column): boolean => !unique.has(name) && type !== 'JSON';

/** Returns how often each field of a dataset has a value, and its most frequent values, from the newest events of the window. */
export async function getFieldStatistics(
  deps: SearchLogsDeps,
  { orgId }: Caller,
  { dataset: name, query }: { dataset: string; query: ExploreQuery },
  signal: AbortSignal,
): Promise<FieldStatistics> {
  const dataset = await openDataset(deps, orgId, { dataset: name, query });
  const columns = listCatalogColumns(dataset.fields).filter((column) => column.name !== '_event');
  const listed = columns.slice(0, fieldsMax);
  const sql = statisticsSql(name, dataset.where, listed);
  const [row = {}] = await queryDataset(deps, orgId, { dataset, query: sql, rowsMax: 1 }, signal);
  const sampled = Number(row['sampled'] ?? 0);
  return {
    dataset: name,
    from: dataset.from.toISOString(),
    to: dataset.to.toISOString(),
    events: Number(row['events'] ?? 0),
    sampled,
    fields: listed.map((column, n) => ({
      name: column.name,
      type: column.type,
      present: sampled === 0 ? 0 : Math.round((10_000 * Number(row[`n${n}`])) / sampled) / 10_000,
      distinct: hasTop(column) ? Number(row[`d${n}`] ?? 0) : null,
      top: toTop(row[`t${n}`]),
    })),
    isComplete: columns.length <= fieldsMax,
  };
}

/** One row: for field `n`, its values `n…`, different values `d…` and most frequent values `t…`. */
function statisticsSql(dataset: string, where: string, columns: Column[]): string {
  const values = columns.map((column, n) => `${quotePath(column.name)} as f${n}`);
  const figures = columns.flatMap((column, n) => {
    const counts = `histogram(left(cast(f${n} as varchar), ${valueCharsMax}))`;
    const top = `list_slice(list_reverse_sort(list_transform(map_entries(${counts}), lambda e: struct_pack(n := e.value, v := e.key))), 1, ${topMax})`;
    return [`count(f${n}) as n${n}`, ...(hasTop(column) ? [`cardinality(${counts}) as d${n}`, `${top} as t${n}`] : [])];
  });
  return `with sample as (select ${values.join(', ')} from ${dataset} ${where} order by _time desc limit ${sampleMax})
    select (select count(*) from ${dataset} ${where}) as events, count(*) as sampled, ${figures.join(', ')} from sample`;
}

const quotePath = (name: string): string =>
  name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');

const toTop = (value: unknown): { value: string; events: number }[] =>
  Array.isArray(value) ? value.map(({ n, v }: { n: number; v: string }) => ({ value: v, events: Number(n) })) : [];
