import type { TextPattern } from '../../matching/expression.ts';
import { UnsupportedError } from './dialect.ts';
import { createPipedDialect } from './piped-dialect.ts';
import { escapeForRegex, patternToRegex, withInlineFlags } from './write-condition.ts';

const escape = (text: string): string => escapeForRegex(text, (unit) => `\\x{${unit.toString(16)}}`);

/** A regular expression as a string. Only what the rule's author wrote as a regular expression can have quotes, pipes or backquotes. */
function quoteRegex(source: string): string {
  if (source.includes('`'))
    throw new UnsupportedError(
      'a regular expression with a backquote is not possible in SPL, which reads a macro there',
    );
  return `"${source.replaceAll('"', String.raw`\x22`).replaceAll('\0', String.raw`\x00`)}"`;
}

const isHarmless = (text: string): boolean => /^[A-Za-z0-9 _.]*$/.test(text);

/** A text as a string, if none of its characters has a meaning in SPL. */
function literal(text: string): string {
  if (!isHarmless(text)) throw new UnsupportedError(`the text ${text} is not possible in SPL`);
  return `"${text}"`;
}

const matchWhole = (field: string, pattern: TextPattern, cased: boolean): string =>
  `match(${field}, ${quoteRegex(`(?${cased ? '' : 'i'}s)^${patternToRegex(pattern, escape)}$`)})`;

/** A field in an expression. Quotes and backslashes are not possible in a name. */
const quoteName = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `'${name.replaceAll(/['"\\`|[\]]/g, '_')}'`;

/** Splunk's Search Processing Language. Texts become regular expressions in which every special character is a code. */
export const spl = createPipedDialect({
  language: 'SPL',
  source: (table) => table,
  quoteName,
  literal,
  readFirst: (names) =>
    names.length === 1 ? quoteName(names[0]!) : `coalesce(${names.map((name) => quoteName(name)).join(', ')})`,
  assign: 'eval',
  filter: 'where',
  keep: 'table',
  count: (name) => `stats count AS ${name}`,
  by: 'BY',
  sortBy: (largest, column, limit) => [`sort ${limit} ${largest === null ? '' : `-${largest} `}+${column}`],
  stepOf: (time, seconds) => `floor(${time}/${seconds})*${seconds}`,
  rowColumns: () => ['_time', '_cd', 'host'],
  eventText: '_raw',
  exists: (field, expected) => `${expected ? 'isnotnull' : 'isnull'}(${field})`,
  compare: (field, { relation, text }, cased) => {
    if (relation === 'equals' && isHarmless(text))
      return cased ? `${field}="${text}"` : `lower(${field})="${text.toLowerCase()}"`;
    const [before, after] = [
      relation === 'equals' || relation === 'startswith' ? '^' : '',
      relation === 'equals' || relation === 'endswith' ? '$' : '',
    ];
    return `match(${field}, ${quoteRegex(`${cased ? '' : '(?i)'}${before}${escape(text)}${after === '' ? '' : String.raw`\z`}`)})`;
  },
  pattern: (field, { pattern, cased }) => matchWhole(field, pattern, cased),
  compareFields: (field, other, { relation, cased }) => {
    const [a, b] = cased ? [field, other] : [`lower(${field})`, `lower(${other})`];
    if (relation === 'equals') return `${a}=${b}`;
    if (relation === 'startswith') return `substr(${a}, 1, len(${b}))=${b}`;
    if (relation === 'endswith') return `substr(${a}, len(${a})-len(${b})+1)=${b}`;
    throw new UnsupportedError('fieldref with contains is not possible in SPL');
  },
  regex: (field, test) => `match(${field}, ${quoteRegex(withInlineFlags(test))})`,
  cidr: (field, network) => `cidrmatch("${network}", ${field})`,
  toNumber: (field) => `tonumber(${field})`,
  timePart: (field, part) => {
    const code = { minute: '%M', hour: '%H', day: '%d', week: '%V', month: '%m', year: '%Y' }[part];
    return `tonumber(strftime(strptime(${field}, "%Y-%m-%dT%H:%M:%S"), "${code}"))`;
  },
  equalTo: '=',
  // A condition over a missing field is null, which `if` treats as false.
  not: (condition) => `if(${condition}, 1, 0)=0`,
  and: 'AND',
  or: 'OR',
});
