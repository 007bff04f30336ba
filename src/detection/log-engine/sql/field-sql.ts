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
  joinSql,
} from './sql-text.ts';
import { storedColumnsMax, type CatalogField } from '../../log-store/catalog/catalog.ts';
import type { ColumnType } from '../../log-store/catalog/column-types.ts';

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

/** Names of keys in lower case, with the names that are hidden inside of their objects. Undefined: the whole key is hidden. */
type HiddenKeys = Map<string, HiddenKeys | undefined>;

/**
 * Returns SQL for an event's JSON text without fields, whatever the case of their names. A dotted name is a key inside of objects, or a key that contains
 * dots. A list, or text that may be JSON, is left out where an object with a hidden key could be.
 */
export function withoutFieldsSql(event: SqlText, fields: readonly string[]): SqlText {
  const keys: HiddenKeys = new Map();
  for (const field of fields) addField(keys, field.toLowerCase().split('.'));
  return duck`CAST(json_merge_patch(${event}, ${patchSql(event, keys, 0)}) AS VARCHAR)`;
}

function addField(keys: HiddenKeys, parts: readonly string[]): void {
  for (let length = 1; length <= parts.length; length++) {
    const head = parts.slice(0, length).join('.');
    const isHidden = length === parts.length;
    const inner = keys.has(head) ? keys.get(head) : isHidden ? undefined : new Map();
    keys.set(head, isHidden ? undefined : inner);
    if (inner && !isHidden) addField(inner, parts.slice(length));
  }
}

/** Returns SQL for the merge patch (RFC 7396) that removes keys from an object. */
function patchSql(object: SqlText, keys: HiddenKeys, depth: number): SqlText {
  const key = duck`k${depth}`;
  const names = joinSql([...keys.keys()].map((name) => quoteLiteral(name)));
  const nested = [...keys].flatMap(([name, inner]) =>
    inner ? [duck`WHEN ${quoteLiteral(name)} THEN ${valueSql(keySql(object, key), inner, depth + 1)}`] : [],
  );
  const value =
    nested.length === 0
      ? duck`CAST(NULL AS JSON)`
      : duck`CASE lower(${key}) ${joinSql(nested, '\n')} ELSE CAST(NULL AS JSON) END`;
  const found = duck`list_filter(list_distinct(json_keys(${object})), lambda ${key}: lower(${key}) IN (${names}))`;
  return duck`to_json(map_from_entries(list_transform(${found}, lambda ${key}: {'key': ${key}, 'value': ${value}})))`;
}

const keySql = (object: SqlText, key: SqlText): SqlText =>
  duck`json_extract(${object}, '/' || replace(replace(${key}, '~', '~0'), '/', '~1'))`;

/** Returns SQL for what a patch has in place of a value that may be an object with hidden keys. The list binds the value to a name. */
function valueSql(value: SqlText, keys: HiddenKeys, depth: number): SqlText {
  const name = duck`v${depth}`;
  const isJsonText = duck`regexp_matches(json_extract_string(${name}, '$'), '^\\s*[[{]')`;
  return duck`list_transform([${value}], lambda ${name}: CASE json_type(${name}) WHEN 'OBJECT' THEN ${patchSql(name, keys, depth)}
    WHEN 'ARRAY' THEN CAST(NULL AS JSON) WHEN 'VARCHAR' THEN CASE WHEN ${isJsonText} THEN CAST(NULL AS JSON) ELSE ${name} END ELSE ${name} END)[1]`;
}
