import type { SimpleComparison } from '../../matching/text-pattern.ts';
import { createPipedDialect } from './piped-dialect.ts';
import { escapeForRegex, patternToRegex, requireRe2, withInlineFlags } from './write-condition.ts';

const isSimpleName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

/** A string literal with backslash escapes. Control characters and line breaks are codes. */
export const quoteKql = (text: string): string =>
  `"${text.replaceAll(/[\\"]/g, (one) => `\\${one}`).replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

const quoteName = (name: string): string => (isSimpleName(name) ? name : `[${quoteKql(name)}]`);

function readField(name: string): string {
  const [column, ...keys] = name.split('.');
  return `tostring(${quoteName(column!)}${keys.map((key) => `[${quoteKql(key)}]`).join('')})`;
}

const operators: Record<SimpleComparison['relation'], [folded: string, cased: string]> = {
  equals: ['=~', '=='],
  contains: ['contains', 'contains_cs'],
  startswith: ['startswith', 'startswith_cs'],
  endswith: ['endswith', 'endswith_cs'],
};
const operatorOf = (relation: SimpleComparison['relation'], cased: boolean): string =>
  operators[relation][cased ? 1 : 0];
const escape = (text: string): string => escapeForRegex(text, (unit) => `\\x{${unit.toString(16)}}`);

/** Kusto Query Language of Microsoft Sentinel. Text that an event does not have is empty there. */
export const kql = createPipedDialect({
  language: 'KQL',
  source: (table) => `${table}\n| where $window`,
  quoteName,
  literal: quoteKql,
  readFirst: (names) => {
    const read = names.map((name) => readField(name));
    return read.length === 1 ? read[0]! : `coalesce(${read.join(', ')})`;
  },
  readPath: readField,
  assign: 'extend',
  filter: 'where',
  keep: 'project',
  count: (name) => `summarize ${name} = count()`,
  by: 'by',
  sortBy: (largest, column, limit) => [
    `sort by ${largest === null ? '' : `${largest} desc, `}${column} asc`,
    `take ${limit}`,
  ],
  stepOf: (time, seconds) => `bin(${time}, ${seconds}s)`,
  rowColumns: (time) => [quoteName(time)],
  eventText: 'tostring(pack_all())',
  exists: (field, expected) => `${expected ? 'isnotempty' : 'isempty'}(${field})`,
  compare: (field, { relation, text }, cased) => `tostring(${field}) ${operatorOf(relation, cased)} ${quoteKql(text)}`,
  oneOf: (field, texts, cased) =>
    `tostring(${field}) ${cased ? 'in' : 'in~'} (${texts.map((text) => quoteKql(text)).join(', ')})`,
  pattern: (field, { pattern, cased }) =>
    `tostring(${field}) matches regex ${quoteKql(`(?${cased ? '' : 'i'}s)^${patternToRegex(pattern, escape)}$`)}`,
  compareFields: (field, other, { relation, cased }) =>
    `tostring(${field}) ${operatorOf(relation, cased)} tostring(${other})`,
  regex: (field, test) => `tostring(${field}) matches regex ${quoteKql(withInlineFlags(requireRe2(test)))}`,
  cidr: (field, network) =>
    `${network.includes(':') ? 'ipv6_is_in_range' : 'ipv4_is_in_range'}(tostring(${field}), ${quoteKql(network)})`,
  toNumber: (field) => `todouble(${field})`,
  timePart: (field, part) =>
    part === 'week' ? `week_of_year(todatetime(${field}))` : `datetime_part("${part}", todatetime(${field}))`,
  equalTo: '==',
  not: (condition) => `not(${condition})`,
  and: 'and',
  or: 'or',
});
