import { storedColumnsMax, type CatalogField } from '../../log-store/catalog/catalog.ts';
import type { ColumnType } from '../../log-store/catalog/column-types.ts';
import {
  coalesceSql,
  duck,
  jsonPointer,
  quoteLiteral,
  typeSql,
  fromInstantSql,
  noText,
  quoteIdentifier,
  type SqlText,
} from './sql-text.ts';

/**
 * Returns SQL that converts text to a column's type. Text that does not fit becomes null. `isMixed`: the column has had values of other types,
 * so exclude what the engine's conversion alters: `1.5` as an integer, `nan` and `infinity` as numbers and times.
 */
export function castSql(type: ColumnType, text: SqlText, isMixed = false): SqlText {
  if (type === 'VARCHAR' || type === 'NULL' || type === 'JSON') return text;
  if (type.endsWith('[]')) return duck`TRY_CAST(TRY_CAST(${text} AS JSON) AS ${typeSql(type)})`;
  const value = duck`TRY_CAST(${text} AS ${typeSql(type)})`;
  if (!isMixed || type === 'BOOLEAN') return value;
  const isExact = type === 'BIGINT' ? duck`TRY_CAST(${text} AS DOUBLE) = ${value}` : duck`isfinite(${value})`;
  return duck`CASE WHEN ${isExact} THEN ${value} END`;
}

/** Returns SQL that converts text to the value of a column. */
export function typedSql({ type, mixed }: CatalogField, text: SqlText): SqlText {
  return type === 'JSON' ? duck`TRY_CAST(${text} AS JSON)` : castSql(type, text, mixed);
}

/** Returns SQL for the JSON pointer of an object's first key with this name in any case. It is null if no key has the name. */
const anySpellingPointer = (json: SqlText, name: string): SqlText =>
  duck`'/' || replace(replace(list_filter(json_keys(${json}), lambda k: lower(k) = ${quoteLiteral(name.toLowerCase())})[1], '~', '~0'), '/', '~1')`;

/** Returns the text of a key of a JSON object, without regard to case. */
export const anySpellingTextSql = (json: SqlText, name: string): SqlText =>
  duck`json_extract_string(${json}, ${anySpellingPointer(json, name)})`;

/** Returns the value of a key of a JSON object, without regard to case. Prefers the given spelling, which is faster. */
export const anySpellingSql = (json: SqlText, name: string): SqlText =>
  coalesceSql([
    duck`json_extract(${json}, ${quoteLiteral(jsonPointer([name]))})`,
    duck`json_extract(${json}, ${anySpellingPointer(json, name)})`,
  ]);

/**
 * Returns an event's JSON text with all escapes in its strings decoded (`\\`, `\"`, `\u00e9`). Turns the whole text into the content of one
 * JSON string, by escaping the quotes that delimit its strings, and decodes that.
 */
export function eventTextSql(json: SqlText): SqlText {
  const inString = duck`regexp_replace(${json}, '((?:[^"\\\\]|\\\\.)*)"', '\\1\\\\"', 'g')`;
  return duck`coalesce(json_extract_string(TRY_CAST('"' || ${inString} || '"' AS JSON), '$'), ${json})`;
}

/** The largest number of columns of Parquet files, and the number of stored columns that the catalog knows. */
type ColumnCounts = { inFiles: number; known: number };

/** Returns the value that Parquet files have of a field, or undefined if it has to be read from the event. */
export function parquetValueSql(field: CatalogField, { inFiles, known }: ColumnCounts): SqlText | undefined {
  const { stored, type } = field;
  // A field without a stored column has been null in all files, unless they had no room for it or are newer than the catalog.
  const isNull = type === 'NULL' || (inFiles < storedColumnsMax && inFiles <= known);
  if (!stored) return isNull ? typedSql(field, noText) : undefined;
  if (stored.position >= inFiles) return typedSql(field, noText);
  const value = quoteIdentifier(stored.name);
  if (stored.type === 'VARCHAR' || stored.type === 'JSON') return typedSql(field, value);
  if (stored.type !== type) return undefined;
  if (type === 'TIMESTAMP') return fromInstantSql(value);
  return type === 'TIMESTAMP[]' ? duck`CAST(${value} AS TIMESTAMP[])` : value;
}
