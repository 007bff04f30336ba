import { listFields, type Expression, type TextPattern, type ValueTest } from '../../matching/expression.ts';
import { UnsupportedError, type ConditionWriter, type CorrelationType, type QueryField } from './dialect.ts';
import { toSimpleComparison, type SimpleComparison } from '../../matching/text-pattern.ts';

/** The syntax of one SQL database for conditions. Arguments are SQL, except for `text`, which is not quoted yet. */
export type SqlSpelling = {
  language: string;
  quoteName: (name: string) => string;
  literal: (text: string) => string;
  /** Returns the text of a field of the logs. */
  readField: (name: string) => string;
  /** Whether `readField` returns an empty text as a missing one. */
  emptyIsMissing?: boolean;
  /** What marks a field as one that may be missing, beside its only name in `coalesce`. */
  orMissing?: string;
  /** Returns the columns of every row of a table, the column of the time last. `time` is what the settings call it. */
  rowColumns: (time: string) => readonly string[];
  windowCondition?: string;
  /**
   * How a correlation reads events from before its window: one source of all, or that of the window and that of the time before. `header` are the first lines of its query. `writeId` returns the columns of its rows
   * with an ID that the rows of a group in a period share.
   */
  lookback: {
    sources: (table: string, seconds: number) => readonly LogSource[];
    header?: (seconds: number) => readonly string[];
    writeId?: (groups: readonly string[], period: string) => readonly string[];
  };
  /** The text of the event, in which keywords are searched. `rowAlias` is the name of the row in it, if it needs one. */
  eventText?: string;
  rowAlias?: string;
  lower: (sql: string) => string;
  lowerLiteral: (text: string) => string;
  compare: (field: string, literal: string, relation: SimpleComparison['relation']) => string;
  /** `quote` returns a text as a literal, in lower case if the field is. */
  like: (field: string, pattern: TextPattern, quote: (text: string) => string) => string;
  containsOneOf?: (field: string, texts: readonly string[], cased: boolean) => string;
  regex: (field: string, test: Extract<ValueTest, { kind: 'regex' }>) => string;
  cidr: (field: string, network: string) => string;
  inOneOf?: (field: string, networks: readonly string[]) => string;
  toNumber: (field: string) => string;
  timePart: (field: string, part: Extract<ValueTest, { kind: 'time' }>['part']) => string;
  secondsOf: (time: string) => string;
  /** Aggregates over a named window. */
  distinctOver: (value: string, window: string) => string;
  percentileOver: (value: string, share: number, window: string) => string;
  /** Returns the measure of a correlation if the column `measure` is only a list of its values. */
  afterOver?: (type: CorrelationType, share: number, measure: string) => string | undefined;
};

/** A table with a condition. `fresh` is the condition that an event belongs to the window, as a column of its own. */
export type LogSource = { table: string; condition?: string | undefined; fresh?: string };

type LogsOptions = { time: string; spelling: SqlSpelling; where: Expression };

/** Returns the SELECT that reads fields as text under their Sigma names, and the text of the event if the condition tests it. */
export function writeLogs(
  { table, condition, fresh }: LogSource,
  fields: readonly QueryField[],
  { time, spelling, where }: LogsOptions,
): string {
  const names = columnNames(fields, { time, spelling });
  const readsText = spelling.eventText !== undefined && listFields(where).includes(null);
  const columns = [
    ...spelling.rowColumns(time),
    ...(fresh === undefined ? [] : [`${fresh} AS fresh`]),
    ...(readsText ? [`${spelling.eventText} AS ${eventTextName}`] : []),
    ...fields.map((field) => `${readFirst(field, spelling)} AS ${names.get(field.name)!}`),
  ];
  const window = condition === undefined ? '' : `\n  WHERE ${condition}`;
  const alias = readsText && spelling.rowAlias !== undefined ? ` AS ${spelling.rowAlias}` : '';
  return `\n  SELECT ${columns.join(',\n    ')}\n  FROM ${table}${alias}${window}\n`;
}

const eventTextName = 'event_text';

function readFirst({ names }: QueryField, { readField, orMissing }: SqlSpelling): string {
  const read = names.map((name) => readField(name));
  if (orMissing !== undefined && read.length === 1) read.push(orMissing);
  return read.length === 1 ? read[0]! : `coalesce(${read.join(', ')})`;
}

/**
 * Returns the quoted column of each field. A column must not be called like the first key of a path, which would then refer to the column, or
 * like another column.
 */
export function columnNames(
  fields: readonly QueryField[],
  {
    time,
    spelling: { quoteName, rowColumns },
  }: { time: string; spelling: Pick<SqlSpelling, 'quoteName' | 'rowColumns'> },
): Map<string, string> {
  const heads = fields.flatMap(({ names }) =>
    names.filter((name) => name.includes('.')).map((name) => name.split('.')[0]!),
  );
  const taken = new Set(
    [
      ...heads,
      ...rowColumns(time).map((name) => name.replaceAll('"', '')),
      eventTextName,
      'fresh',
      'severity',
      'technique',
      'logs',
    ].map((name) => name.toLowerCase()),
  );
  const result = new Map<string, string>();
  for (const { name } of fields) {
    let column = name;
    while (taken.has(column.toLowerCase())) column = `${column}_`;
    taken.add(column.toLowerCase());
    result.set(name, quoteName(column));
  }
  return result;
}

/** Writes conditions over the columns of the CTE. */
export function sqlConditions(columns: ReadonlyMap<string, string>, spelling: SqlSpelling): ConditionWriter {
  const columnOf = (field: string | null): string => {
    if (field !== null) return columns.get(field)!;
    if (spelling.eventText === undefined)
      throw new UnsupportedError('keywords need the text of the whole event, which this target does not have');
    return eventTextName;
  };
  return {
    match: (field, test) => writeTest(columnOf(field), test, { columnOf, spelling }),
    oneOf: (field, texts, cased) => {
      const column = columnOf(field);
      const isExact = cased || texts.every((text) => caseless.test(text));
      const read = texts.includes('') ? readEmpty(column, spelling) : column;
      const list = texts.map((text) => (isExact ? spelling.literal(text) : spelling.lowerLiteral(text))).join(', ');
      return `${isExact ? read : spelling.lower(read)} IN (${list})`;
    },
    ...(spelling.containsOneOf
      ? {
          containsOneOf: (field: string, texts: readonly string[], cased: boolean) =>
            spelling.containsOneOf!(cased ? columnOf(field) : spelling.lower(columnOf(field)), texts, cased),
        }
      : {}),
    ...(spelling.inOneOf
      ? { inOneOf: (field: string, networks: readonly string[]) => spelling.inOneOf!(columnOf(field), networks) }
      : {}),
    not: (condition) => `NOT coalesce(${condition}, false)`,
    and: 'AND',
    or: 'OR',
    always: 'true',
    never: 'false',
  };
}

/** Returns a field for a comparison with the empty text. */
const readEmpty = (column: string, { emptyIsMissing }: SqlSpelling): string =>
  emptyIsMissing ? `coalesce(${column}, '')` : column;

type TestContext = { columnOf: (field: string | null) => string; spelling: SqlSpelling };

function writeTest(column: string, test: ValueTest, { columnOf, spelling }: TestContext): string {
  switch (test.kind) {
    case 'exists':
      return `${column} IS ${test.expected ? 'NOT ' : ''}NULL`;
    case 'text':
      return writeTextTest(column, test, spelling);
    case 'regex':
      return spelling.regex(column, test);
    case 'cidr':
      return spelling.cidr(column, test.network);
    case 'compare':
      return `${spelling.toNumber(column)} ${test.operator} ${test.value}`;
    case 'time':
      return `${spelling.timePart(column, test.part)} = ${test.value}`;
    case 'field': {
      const [a, b] = [column, columnOf(test.other)].map((one) => (test.cased ? one : spelling.lower(one)));
      return spelling.compare(a!, b!, test.relation);
    }
  }
}

// Only these characters are not the lower case of any other.
const caseless = /^[^a-zA-Z\x80-\u{10ffff}]*$/u;

function writeTextTest(
  column: string,
  { pattern, cased }: Extract<ValueTest, { kind: 'text' }>,
  spelling: SqlSpelling,
): string {
  const isExact = cased || pattern.every((part) => !('text' in part) || caseless.test(part.text));
  const value = isExact ? column : spelling.lower(column);
  const literal = isExact ? spelling.literal : spelling.lowerLiteral;
  const simple = toSimpleComparison(pattern);
  if (simple?.text === '' && simple.relation === 'equals') return `${readEmpty(column, spelling)} = ''`;
  if (simple) return spelling.compare(value, literal(simple.text), simple.relation);
  if (pattern.every((part) => 'wildcard' in part && part.wildcard === '*')) return `${column} IS NOT NULL`;
  return spelling.like(value, pattern, literal);
}

/** Returns a LIKE pattern whose wildcards are escaped with `escape`. */
export const toLikePattern = (pattern: TextPattern, escape: string): string =>
  pattern
    .map((part) => {
      if ('wildcard' in part) return part.wildcard === '*' ? '%' : '_';
      return part.text.replaceAll(/[%_!\\]/g, (one) =>
        one === '%' || one === '_' || one === escape ? escape + one : one,
      );
    })
    .join('');

/** The form of LIKE with an explicit escape character. */
export const likeWithEscape = (field: string, pattern: TextPattern, quote: (text: string) => string): string =>
  `${field} LIKE ${quote(toLikePattern(pattern, '!'))} ESCAPE '!'`;
