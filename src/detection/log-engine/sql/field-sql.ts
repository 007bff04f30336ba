import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import type { ColumnType } from '../../log-store/catalog/column-types.ts';
import { coalesceSql, duck, jsonPointer, quoteLiteral, typeSql, type SqlText } from './sql-text.ts';

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
