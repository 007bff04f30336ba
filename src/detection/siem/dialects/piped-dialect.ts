import type { ValueTest } from '../../matching/expression.ts';
import {
  countColumns,
  UnsupportedError,
  type ConditionWriter,
  type CountsQuery,
  type Dialect,
  type EventsQuery,
  type RuleQuery,
} from './dialect.ts';
import { toSimpleComparison, type SimpleComparison } from '../../matching/text-pattern.ts';
import { writeCondition } from './write-condition.ts';

export type TextTest = Extract<ValueTest, { kind: 'text' }>;

/** How one query language with pipes spells a query. Conditions are over fields that `assign` has defined under their Sigma names. */
export type PipedSpelling = {
  language: string;
  /** Returns the beginning of a query, which reads the events of the window with these columns of metadata. */
  source: (table: string, metadata?: readonly string[]) => string;
  quoteName: (name: string) => string;
  literal: (text: string) => string;
  /** Returns the text of the first of several fields of the logs that an event has. */
  readFirst: (names: readonly string[]) => string;
  /** Returns a field of the logs as part of a condition. Absent: its quoted name. */
  readPath?: (name: string) => string;
  assign: string;
  filter: string;
  keep: string;
  /** Returns the command that counts events, to which `by` adds a column to group by. */
  count: (name: string) => string;
  by: string;
  /** Returns the commands that order groups by a number, the largest first, unless it is null, then by a column, and keep the first ones. */
  sortBy: (largest: string | null, column: string, limit: number) => string[];
  /** Returns the beginning of the step of a time. */
  stepOf: (time: string, seconds: number) => string;
  rowColumns: (time: string) => readonly string[];
  /** The text of the whole event. Absent: keywords are not supported. */
  eventText?: string;
  /** The columns with the ID and the JSON of an event. Absent: a row has its fields as columns. */
  eventColumns?: readonly string[];
  /** A field has several values, for which comparisons are null. Absent: they are compared as one text or one by one. */
  isSeveral?: (field: string) => string;
  exists: (field: string, expected: boolean) => string;
  compare: (field: string, comparison: SimpleComparison, cased: boolean) => string;
  oneOf?: (field: string, texts: readonly string[], cased: boolean) => string;
  pattern: (field: string, test: TextTest) => string;
  compareFields: (field: string, other: string, test: Extract<ValueTest, { kind: 'field' }>) => string;
  regex: (field: string, test: Extract<ValueTest, { kind: 'regex' }>) => string;
  cidr: (field: string, network: string) => string;
  toNumber: (field: string) => string;
  timePart: (field: string, part: Extract<ValueTest, { kind: 'time' }>['part']) => string;
  equalTo: string;
  not: (condition: string) => string;
  and: string;
  or: string;
};

/** Returns the dialect of a language with pipes. */
export function createPipedDialect(spelling: PipedSpelling): Dialect {
  return {
    language: spelling.language,
    writeRule: (query) => writeRule(query, spelling),
    writeEvents: (query) => writeEvents(query, spelling),
    writeCounts: (query) => writeCounts(query, spelling),
    writeCorrelation: () => {
      throw new UnsupportedError(
        `correlation rules are not converted to ${spelling.language}. Run the rule on the embedded log store or an SQL database, or convert it for the embedded log store and make it a portable query`,
      );
    },
  };
}

function writeEvents({ table, time, where }: EventsQuery, spelling: PipedSpelling): string {
  const { source, filter, keep, quoteName, eventColumns, isSeveral } = spelling;
  const conditions = createConditions(spelling, spelling.readPath);
  const withSeveral = (field: string | null, condition: string): string =>
    isSeveral && field !== null ? `(${condition} OR ${isSeveral(quoteName(field))})` : condition;
  const writer: ConditionWriter = {
    ...conditions,
    match: (field, test) => withSeveral(field, conditions.match(field, test)),
    ...(conditions.oneOf
      ? { oneOf: (field, texts, cased) => withSeveral(field, conditions.oneOf!(field, texts, cased)) }
      : {}),
  };
  return [
    source(table, eventColumns),
    `${filter} ${writeCondition(where, writer, '    ')}`,
    ...(eventColumns ? [`${keep} ${[quoteName(time), ...eventColumns].join(', ')}`] : []),
  ].join('\n| ');
}

function writeCounts({ table, time, where, by, limit }: CountsQuery, spelling: PipedSpelling): string {
  const isByTime = by !== null && 'stepSeconds' in by;
  const column = isByTime ? countColumns.time : countColumns.value;
  const group = isByTime
    ? spelling.stepOf(spelling.quoteName(time), by.stepSeconds)
    : by && spelling.readFirst([by.field]);
  return [
    spelling.source(table),
    `${spelling.filter} ${writeCondition(where, createConditions(spelling, spelling.readPath), '    ')}`,
    ...(group === null ? [] : [`${spelling.assign} ${column} = ${group}`]),
    `${spelling.count(countColumns.events)}${group === null ? '' : ` ${spelling.by} ${column}`}`,
    ...(group === null ? [] : spelling.sortBy(isByTime ? null : countColumns.events, column, limit)),
  ].join('\n| ');
}

function writeRule({ table, time, fields, columns, constants, where }: RuleQuery, spelling: PipedSpelling): string {
  const { assign, filter, keep, quoteName, literal } = spelling;
  const renamed = fields.filter(({ name, names }) => names.length > 1 || names[0] !== name);
  const assigned = renamed.map(({ name, names }) => `${quoteName(name)} = ${spelling.readFirst(names)}`);
  const added = Object.entries(constants).map(([name, value]) => `${quoteName(name)} = ${literal(value)}`);
  const kept = [
    ...spelling.rowColumns(time),
    ...[...columns, ...Object.keys(constants)].map((name) => quoteName(name)),
  ];
  return [
    spelling.source(table),
    ...(assigned.length > 0 ? [`${assign} ${assigned.join(',\n    ')}`] : []),
    `${filter} ${writeCondition(where, createConditions(spelling), '    ')}`,
    `${assign} ${added.join(', ')}`,
    `${keep} ${kept.join(', ')}`,
  ].join('\n| ');
}

function createConditions(spelling: PipedSpelling, read = spelling.quoteName): ConditionWriter {
  const nameOf = (field: string | null): string => {
    if (field !== null) return read(field);
    if (spelling.eventText === undefined)
      throw new UnsupportedError(`keywords need the text of the whole event, which ${spelling.language} does not have`);
    return spelling.eventText;
  };
  return {
    match: (field, test) => writeTest(nameOf(field), test, { nameOf, spelling }),
    ...(spelling.oneOf ? { oneOf: (field, texts, cased) => spelling.oneOf!(nameOf(field), texts, cased) } : {}),
    not: spelling.not,
    and: spelling.and,
    or: spelling.or,
    always: 'true',
    never: 'false',
  };
}

type TestContext = { nameOf: (field: string | null) => string; spelling: PipedSpelling };

function writeTest(field: string, test: ValueTest, { nameOf, spelling }: TestContext): string {
  switch (test.kind) {
    case 'exists':
      return spelling.exists(field, test.expected);
    case 'text': {
      const simple = toSimpleComparison(test.pattern);
      if (simple) return spelling.compare(field, simple, test.cased);
      const isAnything = test.pattern.every((part) => 'wildcard' in part && part.wildcard === '*');
      return isAnything ? spelling.exists(field, true) : spelling.pattern(field, test);
    }
    case 'regex':
      return spelling.regex(field, test);
    case 'cidr':
      return spelling.cidr(field, test.network);
    case 'compare':
      return `${spelling.toNumber(field)} ${test.operator} ${test.value}`;
    case 'time':
      return `${spelling.timePart(field, test.part)} ${spelling.equalTo} ${test.value}`;
    case 'field':
      return spelling.compareFields(field, nameOf(test.other), test);
  }
}
