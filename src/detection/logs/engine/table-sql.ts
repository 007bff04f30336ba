import { systemColumns, type CatalogField } from '../catalog/catalog.ts';
import { toEngineType } from '../catalog/column-types.ts';
import type { Inspection } from './inspect-tree.ts';
import { castSql } from './rewrite-paths.ts';
import { quoteIdentifier, quoteLiteral, jsonPointer, timestampSql } from './sql-text.ts';

/** A file of events. Text files carry one time of publication, `ingestedMs`; Parquet files one per row and the first `columns` columns. */
export type SegmentFile = { path: string; format: 'text' | 'parquet'; ingestedMs: number; columns: number };

/** Rows of these files within these bounds, in milliseconds: from inclusive, before exclusive. Text files need no bounds of publication. */
export type FileScan = {
  files: SegmentFile[];
  timeFrom?: number;
  timeBefore?: number;
  ingestedFrom?: number;
  ingestedBefore?: number;
};

/** What of a dataset a query may see: `columns` in the order of the catalogue, each with its position there. */
export type TableSource = {
  columns: { field: CatalogField; position: number }[];
  parts: FileScan[];
  eventAsText: boolean;
  only: ReadonlySet<string> | undefined;
};

/** The names that a query mentions, in lower case, or undefined where it may reach any. */
export function listUsedNames(inspection: Inspection): ReadonlySet<string> | undefined {
  if (inspection.allColumns) return undefined;
  // A dotted name may mean a key that has the dots in it.
  const all = inspection.columns.flatMap(({ names }) => [...names, names.join('.'), names.slice(1).join('.')]);
  return new Set(all.map((name) => name.toLowerCase()));
}

/** The SELECT that stands for a dataset in a query: every catalogued column by an explicit cast, over exactly these parts. */
export function tableSql(source: TableSource): string {
  const parts = source.parts.flatMap(({ files, ...bounds }) =>
    (['text', 'parquet'] as const).map((format) => ({
      ...bounds,
      format,
      files: files.filter((file) => file.format === format),
    })),
  );
  const selects = parts.filter((part) => part.files.length > 0).map((part) => partSql(source, part));
  return selects.length > 0 ? selects.join('\nUNION ALL\n') : emptySql(source);
}

type FormatPart = FileScan & { format: 'text' | 'parquet' };

const wanted = (source: TableSource, name: string): boolean =>
  source.only === undefined || source.only.has(name.toLowerCase());

function columnsOf(source: TableSource): { field: CatalogField; position: number }[] {
  return source.columns.filter(({ field }) => wanted(source, field.name));
}

function select(
  source: TableSource,
  values: (name: string) => string,
  column: (field: CatalogField, position: number) => string,
): string {
  const own = systemColumns
    .filter((name) => wanted(source, name))
    .map((name) => `${values(name)} AS ${quoteIdentifier(name)}`);
  const rest = columnsOf(source).map(
    ({ field, position }) => `${typed(field, column(field, position))} AS ${quoteIdentifier(field.name)}`,
  );
  const all = [...own, ...rest];
  return all.length > 0 ? all.join(', ') : '1 AS "_"';
}

function typed(field: CatalogField, text: string): string {
  const type = toEngineType(field.type);
  return type === 'JSON' ? `TRY_CAST(${text} AS JSON)` : castSql(type, text);
}

function emptySql(source: TableSource): string {
  const types: Record<string, string> = { _id: 'VARCHAR', _time: 'TIMESTAMP', _ingested: 'TIMESTAMP', _event: 'JSON' };
  const list = select(
    source,
    (name) => `CAST(NULL AS ${types[name]})`,
    () => 'CAST(NULL AS VARCHAR)',
  );
  return `SELECT ${list} WHERE false`;
}

function partSql(source: TableSource, part: FormatPart): string {
  return part.format === 'text' ? textSql(source, part) : parquetSql(source, part);
}

const listOf = (files: SegmentFile[]): string => files.map((file) => quoteLiteral(file.path)).join(', ');

function where(bounds: [string, string, number | undefined][]): string {
  const tests = bounds.flatMap(([left, operator, right]) =>
    right === undefined ? [] : [`${left} ${operator} ${right}`],
  );
  return tests.length > 0 ? `WHERE ${tests.join(' AND ')}` : '';
}

// Many columns are cheaper to take out of an event at once, few one by one.
const atOnceFrom = 6;

function textSql(source: TableSource, part: FormatPart): string {
  const keys = columnsOf(source).flatMap(({ field }) => field.keys);
  const together = keys.length >= atOnceFrom;
  const at = new Map(keys.map((key, index) => [key, index + 1]));
  const text = (key: string): string =>
    together ? `l[${at.get(key)}]` : `json_extract_string(e, ${quoteLiteral(jsonPointer([key]))})`;
  const own: Record<string, string> = {
    _id: 'i',
    _time: 'make_timestamp(t)',
    _ingested: ingestedSql(part.files),
    _event: source.eventAsText ? 'e' : 'CAST(e AS JSON)',
  };
  const list = select(
    source,
    (name) => own[name]!,
    (field) => coalesced(field.keys.map(text)),
  );
  const inner = together
    ? `, json_extract_string(e, [${keys.map((key) => quoteLiteral(jsonPointer([key]))).join(', ')}]) AS l`
    : '';
  const bounds = where([
    ['t', '>=', micros(part.timeFrom)],
    ['t', '<', micros(part.timeBefore)],
  ]);
  return `SELECT ${list} FROM (SELECT i, t, e, file_index AS f${inner} FROM ${textFiles(part.files)} ${bounds})`;
}

/** Text segments are lines of id, time in microseconds and event, by tabs; an event holds no tab and no line end outside its texts' escapes. */
export function textFiles(files: SegmentFile[]): string {
  return (
    `read_csv([${listOf(files)}], auto_detect = false, header = false, delim = '\\t', quote = '', escape = '', ` +
    `max_line_size = 4194304, columns = {'i': 'VARCHAR', 't': 'BIGINT', 'e': 'VARCHAR'})`
  ).replace("'\\t'", "'\t'");
}

function ingestedSql(files: SegmentFile[]): string {
  if (files.length === 1) return timestampSql(files[0]!.ingestedMs * 1000);
  return `make_timestamp(list_extract([${files.map((file) => `${file.ingestedMs * 1000}::BIGINT`).join(', ')}], CAST(f AS BIGINT) + 1))`;
}

const coalesced = (texts: string[]): string => (texts.length === 1 ? texts[0]! : `coalesce(${texts.join(', ')})`);

const micros = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms * 1000);

function parquetSql(source: TableSource, part: FormatPart): string {
  const present = Math.max(...part.files.map((file) => file.columns));
  const own: Record<string, string> = {
    _id: '_id',
    _time: '_time',
    _ingested: '_ingested',
    _event: source.eventAsText ? '_event' : 'CAST(_event AS JSON)',
  };
  const list = select(
    source,
    (name) => own[name]!,
    (_field, position) => (position < present ? `c${position}` : 'CAST(NULL AS VARCHAR)'),
  );
  const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : timestampSql(ms * 1000));
  const tests = [
    ['_time >=', time(part.timeFrom)],
    ['_time <', time(part.timeBefore)],
    ['_ingested >=', time(part.ingestedFrom)],
    ['_ingested <', time(part.ingestedBefore)],
  ].flatMap(([left, right]) => (right === undefined ? [] : [`${left} ${right}`]));
  return `SELECT ${list} FROM read_parquet([${listOf(part.files)}], union_by_name = true) ${tests.length > 0 ? `WHERE ${tests.join(' AND ')}` : ''}`;
}
