import type { TextPattern } from '../../matching/expression.ts';
import { UnsupportedError } from './dialect.ts';
import { createPipedDialect } from './piped-dialect.ts';

/** A string literal with backslash escapes. */
export function quoteEsql(text: string): string {
  if (text.includes('\0')) throw new UnsupportedError('a text with the character U+0000 is not possible in ES|QL');
  return `"${text
    .replaceAll(/[\\"]/g, (one) => `\\${one}`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
    .replaceAll('\t', String.raw`\t`)}"`;
}

const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
const readField = (name: string): string => `TO_STRING(${quoteName(name)})`;

const toLike = (pattern: TextPattern): string =>
  pattern
    .map((part) => ('text' in part ? part.text.replaceAll(/[\\*?]/g, (one) => `\\${one}`) : part.wildcard))
    .join('');

/** The classes that Lucene's regular expressions lack. */
const classes: Record<string, string> = { d: '0-9', w: 'a-zA-Z0-9_', s: ' \t\r\n' };
const unsupportedRegex = /\(\?|\\[bBAzZkpPQEG1-9]|[*+?}]\?|[*+?}]\+/;

/** Lucene's regular expressions match the whole value and have no anchors, classes, look-around or lazy quantifiers. */
function toLuceneRegex(source: string): string {
  if (unsupportedRegex.test(source))
    throw new UnsupportedError(`the regular expression ${source} is not possible in ES|QL`);
  const [starts, ends] = [source.startsWith('^'), /(?<!\\)(?:\\\\)*\$$/.test(source)];
  const inner = source.slice(starts ? 1 : 0, ends ? -1 : undefined);
  if (/(?<!\\|\[)\^|(?<!\\)\$/.test(inner))
    throw new UnsupportedError(`the regular expression ${source} has an anchor inside, which is not possible in ES|QL`);
  let isInClass = false;
  const expanded = inner.replaceAll(/\\(.)|[[\]@&<>#~"]/gs, (all, code: string | undefined) => {
    if (all === '[') isInClass = true;
    if (all === ']') isInClass = false;
    if (code !== undefined && classes[code]) return isInClass ? classes[code] : `[${classes[code]}]`;
    if (code !== undefined && classes[code.toLowerCase()]) return `[^${classes[code.toLowerCase()]!}]`;
    return code === undefined && !'[]'.includes(all) ? `\\${all}` : all;
  });
  return `${starts ? '' : '(.|\\n)*'}(${expanded})${ends ? '' : '(.|\\n)*'}`;
}

const parts = {
  minute: 'minute_of_hour',
  hour: 'hour_of_day',
  day: 'day_of_month',
  week: 'aligned_week_of_year',
  month: 'month_of_year',
  year: 'year',
};

/** The Elasticsearch Query Language. A field that no index has is an error there, so a mapping must name fields that exist. */
export const esql = createPipedDialect({
  language: 'ES|QL',
  source: (table, metadata = ['_id']) => `FROM ${table} METADATA ${metadata.join(', ')}`,
  eventColumns: ['_id', '_source'],
  isSeveral: (field) => `MV_COUNT(${field}) > 1`,
  quoteName,
  literal: quoteEsql,
  readFirst: (names) =>
    names.length === 1 ? readField(names[0]!) : `COALESCE(${names.map((name) => readField(name)).join(', ')})`,
  assign: 'EVAL',
  filter: 'WHERE',
  keep: 'KEEP',
  count: (name) => `STATS ${name} = COUNT(*)`,
  by: 'BY',
  sortBy: (largest, column, limit) => [
    `SORT ${largest === null ? '' : `${largest} DESC, `}${column}`,
    `LIMIT ${limit}`,
  ],
  stepOf: (time, seconds) => `DATE_TRUNC(${seconds} seconds, ${time})`,
  rowColumns: (time) => ['_id', quoteName(time)],
  exists: (field, expected) => `${field} IS ${expected ? 'NOT ' : ''}NULL`,
  compare: (field, { relation, text }, cased) => {
    const [value, literal] = cased
      ? [`TO_STRING(${field})`, quoteEsql(text)]
      : [`TO_LOWER(TO_STRING(${field}))`, quoteEsql(text.toLowerCase())];
    if (relation === 'equals') return `${value} == ${literal}`;
    if (relation === 'contains') return `LOCATE(${value}, ${literal}) > 0`;
    return `${relation === 'startswith' ? 'STARTS_WITH' : 'ENDS_WITH'}(${value}, ${literal})`;
  },
  oneOf: (field, texts, cased) =>
    cased
      ? `TO_STRING(${field}) IN (${texts.map((text) => quoteEsql(text)).join(', ')})`
      : `TO_LOWER(TO_STRING(${field})) IN (${texts.map((text) => quoteEsql(text.toLowerCase())).join(', ')})`,
  pattern: (field, { pattern, cased }) =>
    cased
      ? `TO_STRING(${field}) LIKE ${quoteEsql(toLike(pattern))}`
      : `TO_LOWER(TO_STRING(${field})) LIKE ${quoteEsql(toLike(pattern).toLowerCase())}`,
  compareFields: (field, other, { relation, cased }) => {
    const [a, b] = [field, other].map((one) => (cased ? `TO_STRING(${one})` : `TO_LOWER(TO_STRING(${one}))`)) as [
      string,
      string,
    ];
    if (relation === 'equals') return `${a} == ${b}`;
    if (relation === 'contains') return `LOCATE(${a}, ${b}) > 0`;
    return `${relation === 'startswith' ? 'STARTS_WITH' : 'ENDS_WITH'}(${a}, ${b})`;
  },
  regex: (field, { source, flags }) => {
    if (flags.length > 0) throw new UnsupportedError('flags of regular expressions are not possible in ES|QL');
    return `TO_STRING(${field}) RLIKE ${quoteEsql(toLuceneRegex(source))}`;
  },
  cidr: (field, network) => `CIDR_MATCH(TO_IP(TO_STRING(${field})), ${quoteEsql(network)})`,
  toNumber: (field) => `TO_DOUBLE(TO_STRING(${field}))`,
  timePart: (field, part) => `DATE_EXTRACT("${parts[part]}", TO_DATETIME(${field}))`,
  equalTo: '==',
  not: (condition) => `NOT COALESCE(${condition}, false)`,
  and: 'AND',
  or: 'OR',
});
