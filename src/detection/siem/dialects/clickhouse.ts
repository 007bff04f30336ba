import { UnsupportedError } from './dialect.ts';
import { toLikePattern } from './sql-conditions.ts';
import { boundWindows, createSqlDialect } from './sql-dialect.ts';
import { requireRe2, withInlineFlags } from './write-condition.ts';

const quoteName = (name: string): string => `"${name.replaceAll(/["\\]/g, (one) => `\\${one}`)}"`;

/** Backslashes are escapes in ClickHouse strings. */
function literal(text: string): string {
  if (!text.isWellFormed()) throw new UnsupportedError('a value has half of a surrogate pair');
  return `'${text.replaceAll(/[\\']/g, (one) => `\\${one}`).replaceAll('\0', String.raw`\0`)}'`;
}

/** A column, or a key inside of a column with JSON text. An empty value counts as missing, because columns are rarely Nullable. */
function readField(name: string): string {
  const [column, ...keys] = name.split('.');
  if (keys.length === 0) return `nullIf(toString(${quoteName(column!)}), '')`;
  const path = `toString(${quoteName(column!)}), ${keys.map((key) => literal(key)).join(', ')}`;
  // `JSONExtractString` is empty for a number, a boolean, an object and a list.
  return `nullIf(if(JSONType(${path}) = 'String', JSONExtractString(${path}), JSONExtractRaw(${path})), '')`;
}

/** ClickHouse 22.3 or newer. */
export const clickhouse = createSqlDialect({
  language: 'SQL (ClickHouse)',
  quoteName,
  literal,
  readField,
  rowColumns: (time) => [quoteName(time)],
  ...boundWindows,
  // All columns of the row, with the escapes in their JSON that hide a quote or a backslash decoded.
  eventText: String.raw`replaceRegexpAll(formatRowNoNewline('TSVRaw', *), '\\\\(["\\\\/])', '\\1')`,
  lower: (sql) => `lowerUTF8(${sql})`,
  lowerLiteral: (text) => `lowerUTF8(${literal(text)})`,
  emptyIsMissing: true,
  compare: (field, text, relation) => {
    if (relation === 'equals') return `${field} = ${text}`;
    if (relation === 'contains') return `position(${field}, ${text}) > 0`;
    return relation === 'startswith' ? `startsWith(${field}, ${text})` : `endsWith(${field}, ${text})`;
  },
  like: (field, pattern, quote) => `${field} LIKE ${quote(toLikePattern(pattern, '\\'))}`,
  regex: (field, test) => {
    // ClickHouse lets the dot match line breaks unless told otherwise.
    const flags = test.flags.includes('s') ? '' : '(?-s)';
    return `match(${field}, ${literal(flags + withInlineFlags(requireRe2(test)))})`;
  },
  cidr: (field, network) =>
    `(isIPv4String(${field}) OR isIPv6String(${field})) AND isIPAddressInRange(ifNull(${field}, '0.0.0.0'), ${literal(network)})`,
  toNumber: (field) => `toFloat64OrNull(${field})`,
  timePart: (field, part) => {
    const name = {
      minute: 'toMinute',
      hour: 'toHour',
      day: 'toDayOfMonth',
      week: 'toISOWeek',
      month: 'toMonth',
      year: 'toYear',
    };
    return `${name[part]}(parseDateTime64BestEffortOrNull(${field}, 3, 'UTC'))`;
  },
  secondsOf: (column) => `toFloat64(toUnixTimestamp64Micro(toDateTime64(${column}, 6))) / 1000000`,
  distinctOver: (value, window) => `uniqExact(${value}) OVER ${window}`,
  percentileOver: (value, share, window) => `quantileExactInclusive(${share})(${value}) OVER ${window}`,
});
