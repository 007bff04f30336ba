import { UnsupportedError, type QueryField } from './dialect.ts';
import { foldCase } from '../../matching/text-pattern.ts';
import { requireRe2, withInlineFlags } from './write-condition.ts';
import { columnNames, likeWithEscape } from './sql-conditions.ts';
import { createSqlDialect } from './sql-dialect.ts';

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A query text has no U+0000, so it is put together from parts. */
function literal(text: string): string {
  if (!text.isWellFormed()) throw new UnsupportedError('a value has half of a surrogate pair');
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? parts[0]! : `(${parts.join(' || chr(0) || ')})`;
}

const comparisons = { startswith: 'starts_with', endswith: 'ends_with', contains: 'contains' };

const rowColumns = (): string[] => ['_id', '_time'];

/** Returns the name of each field's column in the result of a query. */
export const localColumnNames = (fields: readonly QueryField[]): Map<string, string> =>
  columnNames(fields, { time: '_time', spelling: { quoteName: (name) => name, rowColumns } });

/** SQL of the embedded log store. A dotted name reads a key inside of JSON, and any case of a name matches. */
export const duckdb = createSqlDialect({
  language: 'SQL (DuckDB)',
  quoteName,
  literal,
  readField: (name) =>
    `CAST(${name
      .split('.')
      .map((part) => quoteName(part))
      .join('.')} AS VARCHAR)`,
  orMissing: 'NULL',
  rowColumns,
  lookback: {
    header: (seconds) => ['-- correlation', `-- lookback ${seconds}s`],
    writeId: (groups, period) => [
      `md5(to_json([${[period, ...groups].map((one) => `CAST(${one} AS VARCHAR)`).join(', ')}])) AS _id`,
      '[raised._id] AS _ids',
      '_time',
    ],
    sources: (table, seconds) => [
      { table, fresh: 'true' },
      {
        table: `${table}_history`,
        condition: `_time >= $window_start - INTERVAL ${seconds} SECOND`,
        fresh: 'false',
      },
    ],
  },
  eventText: '_text',
  lower: (sql) => `lower(${sql})`,
  lowerLiteral: (text) => literal(foldCase(text)),
  compare: (field, text, relation) =>
    relation === 'equals' ? `${field} = ${text}` : `${comparisons[relation]}(${field}, ${text})`,
  like: likeWithEscape,
  // One automaton for all texts, instead of a search for each.
  containsOneOf: (field, texts, cased) => {
    const alternatives = texts.map((text) =>
      (cased ? text : foldCase(text)).replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
    );
    return `regexp_matches(${field}, ${literal(alternatives.join('|'))})`;
  },
  regex: (field, test) => `regexp_matches(${field}, ${literal(withInlineFlags(requireRe2(test)))})`,
  cidr: (field, network) => `cidr_match(${field}, ${literal(network)})`,
  // The function is a macro, whose text takes long to bind if it is repeated.
  inOneOf: (field, networks) =>
    `len(list_filter([${networks.map((one) => literal(one)).join(', ')}], lambda n: cidr_match(${field}, n))) > 0`,
  toNumber: (field) => `TRY_CAST(${field} AS DOUBLE)`,
  timePart: (field, part) => `${part}(TRY_CAST(${field} AS TIMESTAMP))`,
  secondsOf: (time) => `epoch_us(${time}) / 1000000.0`,
  distinctOver: (value, window) => `count(DISTINCT ${value}) OVER ${window}`,
  percentileOver: (value, share, window) => `quantile_cont(${value}, ${share}) OVER ${window}`,
});
