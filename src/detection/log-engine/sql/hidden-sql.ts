import { duck, joinSql, quoteLiteral, type SqlText } from './sql-text.ts';

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
