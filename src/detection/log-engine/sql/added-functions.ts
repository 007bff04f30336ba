import { duck, joinSql, jsonPointer, quoteLiteral, type SqlText } from './sql-text.ts';
import { listWindowsPaths, windowsContainers, windowsFields } from './windows-fields.ts';

/** Functions of queries over the text of IP addresses. */
export const addressFunctions: readonly string[] = ['cidr_match'];

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const ipv4 = `(?:${byte}\\.){3}${byte}`;
const bytesOf = (text: string): string =>
  [1, 2, 3, 4].map((index) => `TRY_CAST(split_part(${text}, '.', ${index}) AS INTEGER)`).join(', ');
const group = '[0-9a-f]{1,4}';
const groups = `${group}(?::${group})*`;
const groupCount = (text: string): string =>
  `CASE WHEN ${text} = '' THEN 0 ELSE 1 + length(${text}) - length(replace(${text}, ':', '')) END`;

/** Names a value inside an expression. A macro repeats the text of its argument, so nested ones would grow exponentially. */
function define(value: string, name: string, expression: string): string {
  return `list_transform([${value}], lambda ${name}: ${expression})[1]`;
}

const firstBits = (digits: string): string =>
  `(strpos('0123456789abcdef', substr(${digits}, m.n // 4 + 1, 1)) - 1) >> (4 - m.n % 4)`;

/**
 * The statements that define the functions in an engine. Addresses are compared as 32 hexadecimal digits, IPv4 as IPv4-mapped IPv6
 * (RFC 4291). The functions return null for text that is neither an address nor a network.
 *
 * `cidr_match(ip, cidr)` is true if the address is in the network, such as `10.0.0.0/8`, `2001:db8::/32` or a single address. An IPv4-mapped
 * IPv6 address is in the networks of its IPv4 address. An IPv4 address is in no IPv6 network except IPv4-mapped ones.
 */
export const addressFunctionsSql: readonly string[] = [
  `CREATE MACRO _ipv4_digits(t) AS CASE WHEN regexp_full_match(t, '${ipv4}') THEN printf('%02x%02x%02x%02x', ${bytesOf('t')}) END`,
  // The text without its zone, with the last two groups in place of an embedded IPv4 address.
  `CREATE MACRO _ipv6_groups(t) AS CASE WHEN contains(t, '.')
    THEN regexp_replace(lower(t), '[^:]*$', '') || regexp_replace(_ipv4_digits(split_part(t, ':', -1)), '^....', '\\0:')
    ELSE split_part(lower(t), '%', 1) END`,
  // The text with zeros in place of two colons, or unchanged.
  `CREATE MACRO _ipv6_full(t) AS CASE
    WHEN NOT contains(t, '::') THEN t
    WHEN regexp_full_match(t, '(?:${groups})?::(?:${groups})?') THEN ${define(
      `{'l': split_part(t, '::', 1), 'r': split_part(t, '::', 2)}`,
      'v',
      `trim(v.l || ':' || repeat('0:', nullif(greatest(8 - ${groupCount('v.l')} - ${groupCount('v.r')}, 0), 0)) || v.r, ':')`,
    )} END`,
  // Three zeros before each group, of which those remain that make it four digits.
  `CREATE MACRO _ipv6_digits(t) AS CASE WHEN regexp_full_match(t, '${group}(?::${group}){7}')
    THEN regexp_replace(regexp_replace(':' || t, ':', ':000', 'g'), ':0{0,3}([0-9a-f]{4})', '\\1', 'g') END`,
  `CREATE MACRO _ip_digits(t) AS CASE WHEN contains(t, ':')
    THEN ${define(define('_ipv6_groups(t)', 'g', '_ipv6_full(g)'), 'f', '_ipv6_digits(f)')}
    ELSE '00000000000000000000ffff' || _ipv4_digits(t) END`,
  `CREATE MACRO _cidr_bits(t) AS CASE
    WHEN NOT contains(t, '/') THEN 128
    WHEN NOT regexp_full_match(t, '[^/]*/[0-9]{1,3}') THEN NULL
    WHEN contains(t, ':') AND TRY_CAST(split_part(t, '/', 2) AS INTEGER) <= 128 THEN TRY_CAST(split_part(t, '/', 2) AS INTEGER)
    WHEN NOT contains(t, ':') AND TRY_CAST(split_part(t, '/', 2) AS INTEGER) <= 32 THEN 96 + TRY_CAST(split_part(t, '/', 2) AS INTEGER) END`,
  // Whole digits first, then the first bits of the next one.
  `CREATE MACRO cidr_match(ip, cidr) AS ${define(
    `{'a': _ip_digits(CAST(ip AS VARCHAR)), 'b': _ip_digits(split_part(CAST(cidr AS VARCHAR), '/', 1)),
      'n': _cidr_bits(CAST(cidr AS VARCHAR)), 'six': contains(CAST(ip AS VARCHAR), ':')}`,
    'm',
    `CASE WHEN m.a IS NOT NULL AND m.b IS NOT NULL AND m.n IS NOT NULL THEN (m.six OR m.n >= 96)
      AND left(m.a, m.n // 4) = left(m.b, m.n // 4) AND (m.n % 4 = 0 OR ${firstBits('m.a')} = ${firstBits('m.b')}) END`,
  )}`,
];

/** Functions of queries that read a value of `_event`, whichever way the vendor or the shipper nested and named it. */
export const eventFunctions: readonly string[] = ['winlog', 'named_value', 'any_case_key', 'plain_command'];

/** Characters that `cmd` and PowerShell drop or read as a dash, and the form of a quote inside of a word. A command with one of them can hide its words. */
export const commandMarks = ['^', '`', '\u2013', '\u2014', '\u2015'] as const;
export const quoteInWord = '[A-Za-z0-9]"[A-Za-z0-9]';

const namesSql = duck`coalesce(item->>'$.name', item->>'$.Name', item->>'$.displayName', item->>'$.key', item->>'$.Key')`;
const valuesSql = duck`coalesce(item->>'$.value', item->>'$.Value', item->>'$.newValue', item->>'$.NewValue', item->>'$.boolValue',
  item->>'$.intValue', item->>'$.multiValue')`;

const separator = '\n';
const pointersText = (field: string): string =>
  listWindowsPaths(field)
    .map((path) => jsonPointer(path.split('.')))
    .join(separator);
const pointersOfFields = joinSql(
  Object.keys(windowsFields).map((field) => duck`${quoteLiteral(field)}: ${quoteLiteral(pointersText(field))}`),
);
const pointersOfOthers = quoteLiteral(
  windowsContainers.map((path) => `/${path.replaceAll('.', '/')}*`).join(separator),
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
  // Pointers as texts: a call is bound in a third of the time that lists of them take.
  duck`CREATE MACRO winlog(event, field) AS list_filter(json_extract_string(event, string_split(
    coalesce((MAP {${pointersOfFields}})[field], replace(${pointersOfOthers}, '*', field)), ${quoteLiteral(separator)})),
    lambda value: value NOT IN ('', '-'))[1]`,
  duck`CREATE MACRO any_case_key(object, wanted) AS coalesce(json_extract(object, ${pointerSql(duck`wanted`)}), json_extract(object,
    ${pointerSql(duck`list_filter(json_keys(object), lambda k: lower(k) = lower(wanted))[1]`)}))`,
  duck`CREATE MACRO named_value(items, wanted) AS coalesce(json_extract_string(items, '/' || wanted), list_transform(
    list_filter(json_extract(items, '$[*]'), lambda item: lower(${namesSql}) = lower(wanted)), lambda item: ${valuesSql})[1])`,
  duck`CREATE MACRO plain_command(command) AS CASE
    WHEN regexp_matches(command, ${quoteLiteral(`[\\${commandMarks.join('')}]|""|${quoteInWord}`)})
    THEN concat_ws(' ', command, translate(command, '\u2013\u2014\u2015"^\`', '---')) ELSE command END`,
];
