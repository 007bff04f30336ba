import { UnsupportedError } from './dialect.ts';
import { likeWithEscape } from './sql-conditions.ts';
import { boundWindows, createSqlDialect } from './sql-dialect.ts';

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** PostgreSQL text has no U+0000. A literal with a backslash is the same with and without `standard_conforming_strings`. */
function literal(text: string): string {
  if (text.includes('\0')) throw new UnsupportedError('PostgreSQL text cannot have the character U+0000');
  if (!text.isWellFormed()) throw new UnsupportedError('a value has half of a surrogate pair');
  const quoted = text.replaceAll("'", "''");
  return text.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}

/** The first key is a column, the others are keys inside of its JSON. */
function readField(name: string): string {
  const [column, ...keys] = name.split('.');
  if (keys.length === 0) return `${quoteName(column!)}::text`;
  const path = keys.map((key, index) => `${index === keys.length - 1 ? '->>' : '->'} ${literal(key)}`).join(' ');
  return `(${quoteName(column!)}::jsonb ${path})`;
}

// A name such as `010` is no address for PostgreSQL either.
const ipv4 = String.raw`'^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.|$)){4}(?<!\.)$'`;
const number = String.raw`'^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$'`;
const time = String.raw`'^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$'`;

/** PostgreSQL 12 or newer. Missing fields of a table are errors there, so a mapping must name the columns that exist. */
export const postgres = createSqlDialect({
  language: 'SQL (PostgreSQL)',
  quoteName,
  literal,
  readField,
  rowColumns: (time) => [quoteName(time)],
  ...boundWindows,
  // The row as JSON, with the escapes that hide a quote or a backslash decoded.
  eventText: String.raw`regexp_replace(to_jsonb(sigma_row)::text, '\\(["\\/])', '\1', 'g')`,
  rowAlias: 'sigma_row',
  lower: (sql) => `lower(${sql})`,
  lowerLiteral: (text) => `lower(${literal(text)})`,
  compare: (field, text, relation) => {
    if (relation === 'equals') return `${field} = ${text}`;
    if (relation === 'startswith') return `starts_with(${field}, ${text})`;
    return relation === 'endswith' ? `right(${field}, length(${text})) = ${text}` : `strpos(${field}, ${text}) > 0`;
  },
  like: likeWithEscape,
  regex: (field, { source, flags }) => `${field} ~ ${literal(toPostgresRegex(source, flags))}`,
  cidr: (field, network) => {
    const isAddress = network.includes(':') ? `pg_input_is_valid(${field}, 'inet')` : `${field} ~ ${ipv4}`;
    return `CASE WHEN ${isAddress} THEN ${field}::inet <<= ${literal(network)}::inet END`;
  },
  toNumber: (field) => `CASE WHEN ${field} ~ ${number} THEN ${field}::double precision END`,
  timePart: (field, part) =>
    `CASE WHEN ${field} ~ ${time} THEN extract(${part} FROM ${field}::timestamptz AT TIME ZONE 'UTC') END`,
  secondsOf: (column) => `extract(epoch FROM ${column})::double precision`,
  distinctOver: (value, window) => `array_agg(${value}) OVER ${window}`,
  percentileOver: (value, _share, window) => `array_agg(${value}) OVER ${window}`,
  afterOver: (type, share, measure) => {
    if (type === 'value_count') return `(SELECT count(DISTINCT one) FROM unnest(${measure}) AS one)`;
    if (type === 'value_percentile' || type === 'value_median')
      return `(SELECT percentile_cont(${share}) WITHIN GROUP (ORDER BY one) FROM unnest(${measure}) AS one)`;
    return undefined;
  },
});

/** In PostgreSQL, options stand only at the beginning. `p`: the dot does not match a line break. `w`: `^` and `$` match at line breaks. `n`: both. */
function toPostgresRegex(source: string, flags: readonly string[]): string {
  const inline = /^\(\?([ims]+)\)/.exec(source);
  const all = [...flags, ...(inline?.[1] ?? '')];
  const [multiline, dotall] = [all.includes('m'), all.includes('s')];
  const lines = multiline ? (dotall ? 'w' : 'n') : dotall ? '' : 'p';
  const options = `${all.includes('i') ? 'i' : ''}${lines}`;
  return `${options === '' ? '' : `(?${options})`}${splitRepetitions(source.slice(inline?.[0].length ?? 0))}`;
}

const repetitionsMax = 255;
const repeatedAtom = /(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)(?:\{(\d+)(?:,(\d*))?\})?/gsu;

/** Writes `x{1,300}` as `x{1,255}x{0,45}`, because PostgreSQL repeats an atom at most 255 times. */
function splitRepetitions(source: string): string {
  return source.replaceAll(repeatedAtom, (whole: string, atom: string, least?: string, most?: string) => {
    if (least === undefined) return whole;
    const isOpen = most === '';
    let [min, max] = [Number(least), Number(isOpen ? least : (most ?? least))];
    if (max <= repetitionsMax) return whole;
    if (atom === ')') throw new UnsupportedError(`PostgreSQL repeats a group at most ${repetitionsMax} times`);
    let parts = '';
    for (; max > repetitionsMax; max -= repetitionsMax) {
      const first = Math.min(min, repetitionsMax);
      parts += `${atom}{${first},${repetitionsMax}}`;
      min -= first;
    }
    return `${parts}${atom}{${min},${isOpen ? '' : max}}`;
  });
}
