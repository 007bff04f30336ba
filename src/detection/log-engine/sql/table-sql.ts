import { containsHiddenField } from '../../siem/hidden-data.ts';
import { systemColumns, type CatalogField } from '../../log-store/catalog/catalog.ts';
import { anySpellingTextSql, parquetValueSql, typedSql, withoutFieldsSql } from './field-sql.ts';
import {
  coalesceSql,
  duck,
  fromInstantSql,
  instantSql,
  joinSql,
  jsonPointer,
  noText,
  quoteIdentifier,
  quoteLiteral,
  timestampSql,
  typeSql,
  type SqlText,
  slotBoundsSql,
  slotTimeSql,
  type SlotBounds,
} from './sql-text.ts';

/**
 * A file of events. A Parquet file (`typed`) stores the ingest time of each row and `columns` columns of events: the first stored columns of the
 * catalog.
 */
export type SegmentFile = { path: string; format: 'text' | 'typed'; ingestedMs: number; columns: number };

/**
 * The rows of files within bounds in milliseconds: `…From` is inclusive, `…Before` exclusive. Bounds on the ingest time apply to Parquet
 * files only, because a text file is selected as a whole.
 */
export type FileScan = {
  files: SegmentFile[];
  timeFrom?: number;
  timeBefore?: number;
  ingestedFrom?: number;
  ingestedBefore?: number;
  /** Bounds of the slot time, for files of either format. */
  slot?: SlotBounds;
};

/**
 * A column that the catalog does not have. `valueSql` returns its value from the event's JSON text. Without it, the column is null, or
 * another spelling of the catalog column `sameAs`.
 */
export type ExtraColumn = { name: string; valueSql?: (event: SqlText) => SqlText; sameAs?: string };

/**
 * The part of a dataset that a query can read: catalog columns, further columns, and the files to scan. Only catalog columns in
 * `usedNames` (lower case) are selected, or all if it is undefined. `eventAsText`: `_event` is selected as text instead of JSON.
 */
export type TableSource = {
  columns: readonly CatalogField[];
  extra: ExtraColumn[];
  scans: FileScan[];
  eventAsText: boolean;
  usedNames: ReadonlySet<string> | undefined;
  /** Names of fields that no row has, of which `columns` has none but those of objects around them. */
  hiddenFields?: readonly string[] | undefined;
  /** The name of a further column with the slot time of each row in microseconds, if any. */
  slotColumn?: string;
};

/** Returns the SELECT that defines a dataset in a query: the used columns with explicit casts, over exactly the given scans. */
export function tableSql(source: TableSource): SqlText {
  return addNulls(source.extra, rowsSql(source));
}

/** Like `tableSql`, over the stored rows of a source with at least these columns and the event as text. */
export function storedTableSql(source: TableSource, stored: SqlText): SqlText {
  const event = duck`_event`;
  const list = selectList(
    source,
    (name) => (name === '_event' && !source.eventAsText ? duck`CAST(_event AS JSON)` : quoteIdentifier(name)),
    ({ name }) => quoteIdentifier(name),
    { event, slot: noText },
  );
  return addNulls(source.extra, duck`SELECT ${list} FROM ${stored}`);
}

/** Adds the columns without a value of their own to rows. They are outside of a union or a stored table, which would give a null a type. */
export function addNulls(extra: readonly ExtraColumn[], rows: SqlText): SqlText {
  const added = extra
    .filter(({ valueSql }) => !valueSql)
    .map(
      ({ name, sameAs }) =>
        duck`${sameAs === undefined ? duck`NULL` : quoteIdentifier(sameAs)} AS ${quoteIdentifier(name)}`,
    );
  return added.length > 0 ? duck`SELECT *, ${joinSql(added)} FROM (${rows})` : rows;
}

/** Like `tableSql`, without the columns that have no value. */
export function rowsSql(source: TableSource): SqlText {
  const selects = source.scans.flatMap((scan) => {
    const byFormat = Map.groupBy(scan.files, ({ format }) => format);
    return [...byFormat].map(([format, files]) =>
      format === 'text' ? textScanSql(source, { ...scan, files }) : parquetScanSql(source, { ...scan, files }),
    );
  });
  return selects.length > 0 ? joinSql(selects, '\nUNION ALL\n') : emptyTableSql(source);
}

const isUsed = ({ usedNames }: TableSource, name: string): boolean =>
  usedNames === undefined || usedNames.has(name.toLowerCase());

const usedColumns = (source: TableSource): CatalogField[] => source.columns.filter(({ name }) => isUsed(source, name));

/** Returns a select list. `systemSql` and `valueSql` return the value of a system column and of a catalog column. `event` is the event's text. */
function selectList(
  source: TableSource,
  systemSql: (name: (typeof systemColumns)[number]) => SqlText,
  valueSql: (field: CatalogField) => SqlText,
  { event, slot }: { event: SqlText; slot: SqlText },
): SqlText {
  const system = systemColumns
    .filter((name) => isUsed(source, name))
    .map((name) => duck`${systemSql(name)} AS ${quoteIdentifier(name)}`);
  const catalog = usedColumns(source).map((field) => duck`${valueSql(field)} AS ${quoteIdentifier(field.name)}`);
  const extra = source.extra.flatMap(({ name, valueSql: extraSql }) =>
    extraSql ? [duck`${extraSql(event)} AS ${quoteIdentifier(name)}`] : [],
  );
  const named = [...system, ...catalog, ...extra];
  const all = named.length > 0 ? named : [duck`1 AS "_"`];
  return joinSql(
    source.slotColumn === undefined ? all : [...all, duck`${slot} AS ${quoteIdentifier(source.slotColumn)}`],
  );
}

/** Returns the text of a top-level key. `keySql` returns that of one spelling. */
export function keyTextSql(field: CatalogField, keySql: (key: string) => SqlText, event: SqlText): SqlText {
  const texts = field.keys.map(keySql);
  return coalesceSql(field.anySpelling ? [...texts, anySpellingTextSql(event, field.name)] : texts);
}

function emptyTableSql(source: TableSource): SqlText {
  const types = { _id: 'VARCHAR', _time: 'TIMESTAMP', _ingested: 'TIMESTAMP', _event: 'JSON' } as const;
  const list = selectList(
    source,
    (name) => duck`CAST(NULL AS ${typeSql(types[name])})`,
    (field) => typedSql(field, noText),
    { event: noText, slot: duck`CAST(NULL AS BIGINT)` },
  );
  return duck`SELECT ${list} WHERE false`;
}

const filePaths = (files: SegmentFile[]): SqlText => joinSql(files.map((file) => quoteLiteral(file.path)));

/** Returns the WHERE clause for the comparisons that have a right side and the condition, or nothing. */
function whereSql(comparisons: [left: SqlText, right: SqlText | number | undefined][], condition?: SqlText): SqlText {
  const tests = comparisons.flatMap(([left, right]) => (right === undefined ? [] : [duck`${left} ${right}`]));
  if (condition !== undefined) tests.push(condition);
  return tests.length > 0 ? duck`WHERE ${joinSql(tests, ' AND ')}` : duck``;
}

/**
 * How to read keys of an event: `keySql` returns the text of one, in the further columns `extracted` of the scan. One call extracts all of them. The
 * engine would repeat it for each condition that a query has about a key, in time and memory, if `random()` did not make it depend on more
 * than the event.
 */
function extractKeys(fields: CatalogField[], event: SqlText): { keySql: (key: string) => SqlText; extracted: SqlText } {
  const keys = fields.flatMap(({ keys: spellings }) => spellings);
  const listIndex = new Map(keys.map((key, index) => [key, index + 1]));
  const pointers = joinSql(keys.map((key) => quoteLiteral(jsonPointer([key]))));
  return {
    keySql: (key) => duck`_text[${listIndex.get(key)!}]`,
    // A name that no column of a file has.
    extracted:
      keys.length === 0
        ? duck``
        : duck`, CASE WHEN random() >= 0 THEN json_extract_string(${event}, [${pointers}]) END AS _text`,
  };
}

function textScanSql(source: TableSource, scan: FileScan): SqlText {
  const { keySql, extracted } = extractKeys(usedColumns(source), duck`e`);
  const system = {
    _id: duck`i`,
    _time: duck`make_timestamp(t)`,
    _ingested: ingestedSql(scan.files),
    _event: source.eventAsText ? duck`e` : duck`CAST(e AS JSON)`,
  };
  const list = selectList(
    source,
    (name) => system[name],
    (field) => typedSql(field, keyTextSql(field, keySql, duck`e`)),
    { event: duck`e`, slot: duck`s` },
  );
  const slotTime = scan.slot ? slotTimeSql(duck`t`, arrivalSql(scan.files), scan.slot) : duck`t`;
  const slot = source.slotColumn === undefined ? duck`` : duck`, ${slotTime} AS s`;
  const micros = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms * 1000);
  const where = whereSql(
    [
      [duck`t >=`, micros(scan.timeFrom)],
      [duck`t <`, micros(scan.timeBefore)],
    ],
    scan.slot && slotBoundsSql(slotTime, scan.slot),
  );
  const files = textFilesSql(scan.files);
  const hidden = source.hiddenFields;
  const rows = hidden
    ? duck`(SELECT i, t, ${withoutFieldsSql(duck`e`, hidden)} AS e, file_index FROM ${files})`
    : files;
  return duck`SELECT ${list} FROM (SELECT i, t, e, file_index AS f${extracted}${slot} FROM ${rows} ${where})`;
}

/**
 * Returns the table function that reads text segments: lines of ID `i`, time `t` in microseconds and event `e`, separated by tabs. An event
 * contains no tab and no line break, except escaped inside strings.
 */
export function textFilesSql(files: SegmentFile[]): SqlText {
  return duck`read_csv([${filePaths(files)}], auto_detect = false, header = false, delim = '\t', quote = '', escape = '',
    max_line_size = 4194304, columns = {'i': 'VARCHAR', 't': 'BIGINT', 'e': 'VARCHAR'})`;
}

/** Returns the ingest time of a row of these text files in microseconds. */
function arrivalSql(files: SegmentFile[]): SqlText {
  const micros = files.map((file) => duck`${file.ingestedMs * 1000}::BIGINT`);
  return files.length === 1 ? micros[0]! : duck`list_extract([${joinSql(micros)}], CAST(file_index AS BIGINT) + 1)`;
}

function ingestedSql(files: SegmentFile[]): SqlText {
  if (files.length === 1) return timestampSql(files[0]!.ingestedMs * 1000);
  const micros = files.map((file) => duck`${file.ingestedMs * 1000}::BIGINT`);
  return duck`make_timestamp(list_extract([${joinSql(micros)}], CAST(f AS BIGINT) + 1))`;
}

function parquetScanSql(source: TableSource, scan: FileScan): SqlText {
  const { slot } = scan;
  const time = duck`epoch_us(_time)`;
  const slotTime = slot ? slotTimeSql(time, duck`epoch_us(_ingested)`, slot) : time;
  const counts = {
    inFiles: Math.max(...scan.files.map((file) => file.columns)),
    known: source.columns.filter(({ stored }) => stored).length,
  };
  const hidden = source.hiddenFields;
  const storedSql = (field: CatalogField): SqlText | undefined =>
    hidden && containsHiddenField(field.name, { datasets: [], fields: hidden })
      ? undefined
      : parquetValueSql(field, counts);
  const unstored = usedColumns(source).filter((field) => storedSql(field) === undefined);
  const { keySql, extracted } = extractKeys(unstored, duck`_event`);
  const system = {
    _id: duck`_id`,
    _time: fromInstantSql(duck`_time`),
    _ingested: fromInstantSql(duck`_ingested`),
    _event: source.eventAsText ? duck`_event` : duck`CAST(_event AS JSON)`,
  };
  const list = selectList(
    source,
    (name) => system[name],
    (field) => storedSql(field) ?? typedSql(field, keyTextSql(field, keySql, duck`_event`)),
    { event: duck`_event`, slot: slotTime },
  );
  const bound = (ms: number | undefined): SqlText | undefined => (ms === undefined ? undefined : instantSql(ms * 1000));
  // In runs, no event arrives before its slot. This bound lets the engine skip parts of a file.
  const arrivedFrom = slot?.lateSince === undefined ? scan.ingestedFrom : slot.from;
  const where = whereSql(
    [
      [duck`_time >=`, bound(scan.timeFrom)],
      [duck`_time <`, bound(scan.timeBefore)],
      [duck`_ingested >=`, bound(arrivedFrom)],
      [duck`_ingested <`, bound(scan.ingestedBefore)],
    ],
    slot && slotBoundsSql(slotTime, slot),
  );
  const files = parquetFilesSql(scan.files);
  const events = hidden
    ? duck`(SELECT * REPLACE (${withoutFieldsSql(duck`_event`, hidden)} AS _event) FROM ${files})`
    : files;
  const rows = duck`SELECT *${extracted} FROM ${events} ${where}`;
  return duck`SELECT ${list} FROM (${rows})`;
}

/**
 * Returns the table function that reads Parquet segments. The names of their folders add no columns. Files with as many columns have the same ones,
 * so that the engine need not open all of them before it plans the query.
 */
export function parquetFilesSql(files: SegmentFile[]): SqlText {
  const byName = new Set(files.map(({ columns }) => columns)).size > 1 ? duck`, union_by_name = true` : duck``;
  return duck`read_parquet([${filePaths(files)}], hive_partitioning = false${byName})`;
}
