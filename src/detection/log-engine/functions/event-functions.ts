import { duck, joinSql, jsonPointer, quoteLiteral, type SqlText } from '../sql/sql-text.ts';
import { listWindowsPaths, windowsContainers, windowsFields } from './windows-fields.ts';

/** Functions of queries that read a value of `_event`, whichever way the vendor or the shipper nested and named it. */
export const eventFunctions: readonly string[] = ['winlog', 'named_value', 'any_case_key', 'plain_command'];

/** Characters that `cmd` and PowerShell drop or read as a dash, and the form of a quote inside of a word. A command with one of them can hide its words. */
export const commandMarks = ['^', '`', '\u2013', '\u2014', '\u2015'] as const;
export const quoteInWord = '[A-Za-z0-9]"[A-Za-z0-9]';

const namesSql = duck`coalesce(item->>'$.name', item->>'$.Name', item->>'$.displayName', item->>'$.key', item->>'$.Key')`;
const valuesSql = duck`coalesce(item->>'$.value', item->>'$.Value', item->>'$.newValue', item->>'$.NewValue', item->>'$.boolValue',
  item->>'$.intValue', item->>'$.multiValue')`;

const pointersSql = (field: string): SqlText =>
  joinSql(listWindowsPaths(field).map((path) => quoteLiteral(jsonPointer(path.split('.')))));

// The engine computes these once per query, because the name is a constant.
const otherPointersSql = joinSql(
  windowsContainers.map((path) => duck`${quoteLiteral(`/${path.replaceAll('.', '/')}`)} || field`),
);

const pointerSql = (key: SqlText): SqlText => duck`'/' || replace(replace(${key}, '~', '~0'), '/', '~1')`;

/**
 * The statements that define the functions in an engine. `winlog(_event, 'CommandLine')` is the text of a field of a Windows event: the first
 * of its paths that has a value other than empty text and `-`. All paths are read in one pass over the event.
 * `named_value(_event->'$.Parameters', 'ForwardTo')` is the text of the entry with this name in a list of names and values, as audit logs of
 * Microsoft 365, Entra ID and Google Workspace have, or of the key of an object. `any_case_key(_event, 'User')` is the JSON value of a key in
 * any case, preferably as written. `plain_command(text)` is a command line, followed by the same without quotes and escapes and with plain dashes
 * if it has characters that hide words (`commandMarks`), such as `vss"admin` and `–enc`.
 */
export const eventFunctionsSql: readonly SqlText[] = [
  duck`CREATE MACRO winlog(event, field) AS list_filter(json_extract_string(event, CASE field
    ${joinSql(
      Object.keys(windowsFields).map((field) => duck`WHEN ${quoteLiteral(field)} THEN [${pointersSql(field)}]`),
      '\n',
    )}
    ELSE [${otherPointersSql}] END), lambda value: value NOT IN ('', '-'))[1]`,
  duck`CREATE MACRO any_case_key(object, wanted) AS coalesce(json_extract(object, ${pointerSql(duck`wanted`)}), json_extract(object,
    ${pointerSql(duck`list_filter(json_keys(object), lambda k: lower(k) = lower(wanted))[1]`)}))`,
  duck`CREATE MACRO named_value(items, wanted) AS coalesce(json_extract_string(items, '/' || wanted), list_transform(
    list_filter(json_extract(items, '$[*]'), lambda item: lower(${namesSql}) = lower(wanted)), lambda item: ${valuesSql})[1])`,
  duck`CREATE MACRO plain_command(command) AS CASE
    WHEN regexp_matches(command, ${quoteLiteral(`[\\${commandMarks.join('')}]|""|${quoteInWord}`)})
    THEN concat_ws(' ', command, translate(command, '\u2013\u2014\u2015"^\`', '---')) ELSE command END`,
];
