import type { TextPattern } from '../../matching/expression.ts';
import { UnsupportedError } from './dialect.ts';
import { createPipedDialect } from './piped-dialect.ts';
import { withInlineFlags } from './write-condition.ts';

/** A string literal. Quotes are doubled and backslashes escaped, so that a value ends nowhere but at its own quote. */
export function quotePpl(text: string): string {
  if (text.includes('\0')) throw new UnsupportedError('a text with the character U+0000 is not possible in PPL');
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
const readField = (name: string): string => `cast(${quoteName(name)} as string)`;

const toLike = (pattern: TextPattern): string =>
  pattern
    .map((part) => {
      if ('wildcard' in part) return part.wildcard === '*' ? '%' : '_';
      return part.text.replaceAll(/[\\%_]/g, (one) => `\\${one}`);
    })
    .join('');

const countCharacters = (text: string): number => [...text].length;

/** The Piped Processing Language of OpenSearch. */
export const ppl = createPipedDialect({
  language: 'PPL',
  source: (table) => `source=${table}\n| where $window`,
  quoteName,
  literal: quotePpl,
  readFirst: (names) =>
    names.length === 1 ? readField(names[0]!) : `coalesce(${names.map((name) => readField(name)).join(', ')})`,
  readPath: readField,
  assign: 'eval',
  filter: 'where',
  keep: 'fields',
  count: (name) => `stats count() as ${name}`,
  by: 'by',
  sortBy: (largest, column, limit) => [`sort ${largest === null ? '' : `- ${largest}, `}+ ${column}`, `head ${limit}`],
  stepOf: (time, seconds) => `from_unixtime(floor(unix_timestamp(${time}) / ${seconds}) * ${seconds})`,
  rowColumns: (time) => [quoteName(time)],
  exists: (field, expected) => `${expected ? 'isnotnull' : 'isnull'}(${field})`,
  compare: (field, { relation, text }, cased) => {
    const [value, plain] = cased ? [field, text] : [`lower(${field})`, text.toLowerCase()];
    if (relation === 'equals') return `${value} = ${quotePpl(plain)}`;
    if (relation === 'contains') return `locate(${quotePpl(plain)}, ${value}) > 0`;
    return `${relation === 'startswith' ? 'left' : 'right'}(${value}, ${countCharacters(plain)}) = ${quotePpl(plain)}`;
  },
  oneOf: (field, texts, cased) =>
    cased
      ? `${field} in (${texts.map((text) => quotePpl(text)).join(', ')})`
      : `lower(${field}) in (${texts.map((text) => quotePpl(text.toLowerCase())).join(', ')})`,
  pattern: (field, { pattern, cased }) =>
    cased
      ? `like(${field}, ${quotePpl(toLike(pattern))})`
      : `like(lower(${field}), ${quotePpl(toLike(pattern).toLowerCase())})`,
  compareFields: (field, other, { relation, cased }) => {
    const [a, b] = [field, other].map((one) => (cased ? one : `lower(${one})`)) as [string, string];
    if (relation === 'equals') return `${a} = ${b}`;
    if (relation === 'contains') return `locate(${b}, ${a}) > 0`;
    return `${relation === 'startswith' ? 'left' : 'right'}(${a}, length(${b})) = ${b}`;
  },
  regex: (field, test) => `regexp_match(${field}, ${quotePpl(withInlineFlags(test))})`,
  cidr: (field, network) => `cidrmatch(${field}, ${quotePpl(network)})`,
  toNumber: (field) => `cast(${field} as double)`,
  timePart: (field, part) => `${part === 'week' ? 'week_of_year' : part}(timestamp(${field}))`,
  equalTo: '=',
  not: (condition) => `not ifnull(${condition}, false)`,
  and: 'and',
  or: 'or',
});
