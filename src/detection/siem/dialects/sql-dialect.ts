import { listFields } from '../../matching/expression.ts';
import {
  countColumns,
  type CorrelatedEvents,
  type Correlation,
  type CorrelationOperator,
  type CorrelationPart,
  type CorrelationQuery,
  type CountsQuery,
  type Dialect,
  type EventsQuery,
  type RuleQuery,
} from './dialect.ts';
import { columnNames, sqlConditions, writeLogs, type SqlSpelling } from './sql-conditions.ts';
import { writeCondition } from './write-condition.ts';

const sources = (table: string, seconds: number) => [
  { table, condition: `$window_back_${seconds}s`, fresh: '$window' },
];
/** Restricts a table to the window, and to the time before it, by placeholders that the connector replaces. */
export const boundWindows = { windowCondition: '$window', lookback: { sources } };

/** Returns the dialect of an SQL database. A query reads its fields as text in a CTE, under their Sigma names. */
export function createSqlDialect(spelling: SqlSpelling): Dialect {
  return {
    language: spelling.language,
    writeRule: (query) => writeRule(query, spelling),
    writeCorrelation: (query) => writeSqlCorrelation(query, spelling),
    writeEvents: (query) => writeEvents(query, spelling),
    writeCounts: (query) => writeCounts(query, spelling),
  };
}

const writeEvents = (query: EventsQuery, spelling: SqlSpelling): string => `SELECT *\n${writeFrom(query, spelling)}`;

/** Returns the clauses that select the events of a window. */
function writeFrom({ table, where }: EventsQuery, spelling: SqlSpelling): string {
  const { windowCondition, readField } = spelling;
  const names = new Map(listFields(where).flatMap((field) => (field === null ? [] : [[field, readField(field)]])));
  const condition = writeCondition(where, sqlConditions(names, spelling));
  const window = windowCondition === undefined ? '' : `${windowCondition}\n  AND `;
  return `FROM ${table}\nWHERE ${window}(${condition})`;
}

function writeCounts({ by, limit, ...query }: CountsQuery, spelling: SqlSpelling): string {
  const { value, time, events } = countColumns;
  const from = writeFrom(query, spelling);
  if (by === null) return `SELECT count(*) AS ${events}\n${from}`;
  const isByTime = 'stepSeconds' in by;
  const group = isByTime
    ? `floor(${spelling.secondsOf(spelling.rowColumns(query.time).at(-1)!)} / ${by.stepSeconds}) * ${by.stepSeconds} AS ${time}`
    : `${spelling.readField(by.field)} AS ${value}`;
  const order = isByTime ? '1' : '2 DESC, 1';
  return `SELECT ${group}, count(*) AS ${events}\n${from}\nGROUP BY 1\nORDER BY ${order}\nLIMIT ${limit}`;
}

function writeRule({ table, time, fields, columns, constants, where }: RuleQuery, spelling: SqlSpelling): string {
  const names = columnNames(fields, { time, spelling });
  const selected = columns.map((column) => names.get(column)!);
  const added = Object.entries(constants).map(
    ([name, value]) => `${spelling.literal(value)} AS ${spelling.quoteName(name)}`,
  );
  const list = [...spelling.rowColumns(time), ...selected, ...added].join(', ');
  const source = { table, condition: spelling.windowCondition };
  return [
    `WITH logs AS (${writeLogs(source, fields, { time, spelling, where })})`,
    `SELECT ${list}`,
    'FROM logs',
    `WHERE ${writeCondition(where, sqlConditions(names, spelling))}`,
  ].join('\n');
}

/** An event may be on its way for so long before it counts in a window, so a query looks back further than the time spans. */
const arrivalSeconds = 15 * 60;

/**
 * Returns the query of a correlation. Every event closes a time span that ends with it, and is a match if the span fulfills the condition. Spans
 * begin before the window. A match is new if its span fulfills the condition only with the events of the window. It is returned if these
 * events fulfill the condition alone, or if its span has no match that was returned in an earlier window.
 */
function writeSqlCorrelation(query: CorrelationQuery, spelling: SqlSpelling): string {
  const { correlation, time, constants } = query;
  const lookback = spanSeconds(query) + arrivalSeconds;
  const context: Context = { time, spelling, lookback, tables: [] };
  const { table, groups } = writeMatches(query, '', context);
  const added = Object.entries(constants).map(
    ([name, value]) => `${spelling.literal(value)} AS ${spelling.quoteName(name)}`,
  );
  const earlier = 'max(CASE WHEN is_new THEN 0 ELSE 1 END) OVER span AS earlier_matches';
  const raised = `raised AS (\n  SELECT *, ${earlier}\n  FROM ${table}\n  WINDOW ${writeSpan(correlation, groups)}\n)`;
  return [
    ...(spelling.lookback.header?.(lookback) ?? []),
    `WITH ${[...context.tables, raised].join(',\n')}`,
    `SELECT ${[...spelling.rowColumns(time), ...groups, 'value', ...added].join(', ')}`,
    'FROM raised',
    'WHERE is_new AND (is_alone OR earlier_matches = 0)',
  ].join('\n');
}

/** Returns how many seconds lie at most between the first and the last event of a match. */
export const spanSeconds = ({ correlation, parts }: CorrelationQuery): number =>
  correlation.timespanSeconds +
  Math.max(0, ...parts.map((part) => (part.kind === 'correlation' ? spanSeconds(part.query) : 0)));

/** `tables` are the common table expressions so far. */
type Context = { time: string; spelling: SqlSpelling; lookback: number; tables: string[] };

/** A table of matches with the columns of the row, `seconds`, `groups`, `value`, `is_new` and `is_alone`. */
type Matches = { table: string; groups: string[] };

/** Adds the tables of a correlation. `id` tells those of several correlations apart. */
function writeMatches(query: CorrelationQuery, id: string, context: Context): Matches {
  const { correlation, parts } = query;
  const { spelling, tables, time } = context;
  const groups = groupColumns(correlation, spelling);
  const selects = parts.map((part, index) =>
    writePart(part, { id: `${id}_${index + 1}`, rule: index + 1, groups }, context),
  );
  tables.push(`found${id} AS (\n  ${selects.join('\n  UNION ALL\n  ')}\n)`);
  const written: Written = { correlation, groups, rules: parts.length, id, spelling, tables };
  const { from, condition, columns } = correlation.type === 'temporal_ordered' ? ordered(written) : windowed(written);
  const list = [...spelling.rowColumns(time), 'seconds', ...groups, ...columns].join(', ');
  tables.push(`matches${id} AS (\n  SELECT ${list}\n  FROM ${from}\n  WHERE ${condition}\n)`);
  return { table: `matches${id}`, groups };
}

const ownColumns = ['rule', 'seconds', 'value', 'fresh', 'is_new', 'is_alone', 'measure', 'earlier_matches'];
const groupColumns = ({ groupBy }: Correlation, { quoteName }: SqlSpelling): string[] =>
  groupBy.map((name) => quoteName(ownColumns.includes(name.toLowerCase()) ? `${name}_` : name));

type PartOptions = { id: string; rule: number; groups: readonly string[] };

/** Returns the SELECT of the events of one rule. `fresh`: the event belongs to the window. */
function writePart(part: CorrelationPart, { id, rule, groups }: PartOptions, context: Context): string {
  const { time, spelling } = context;
  const row = spelling.rowColumns(time);
  const select = (names: ReadonlyMap<string, string>, seconds: string, fresh: string): string =>
    [
      ...row,
      seconds,
      fresh,
      `${rule} AS rule`,
      ...(part.value === null ? [] : [`${names.get(part.value)!} AS value`]),
      ...part.groupBy.map((name, index) => `${names.get(name)!} AS ${groups[index]!}`),
    ].join(', ');
  if (part.kind === 'correlation') {
    const inner = writeMatches(part.query, id, context);
    const names = new Map(part.query.correlation.groupBy.map((name, index) => [name, inner.groups[index]!]));
    return `SELECT ${select(names, 'seconds', 'is_new AS fresh')}\n  FROM ${inner.table}`;
  }
  const names = columnNames(part.fields, { time, spelling });
  context.tables.push(writePartEvents(part, id, context));
  const condition = writeCondition(part.where, sqlConditions(names, spelling), '    ');
  const seconds = `${spelling.secondsOf(row.at(-1)!)} AS seconds`;
  return `SELECT ${select(names, seconds, 'fresh')}\n  FROM logs${id}\n  WHERE ${condition}`;
}

/** Returns the table of the events that one rule reads, those before the window included. */
function writePartEvents({ table, fields, where }: CorrelatedEvents, id: string, context: Context): string {
  const { time, spelling, lookback } = context;
  const selects = spelling.lookback
    .sources(table, lookback)
    .map((source) => writeLogs(source, fields, { time, spelling, where }));
  return `logs${id} AS (${selects.join('  UNION ALL')})`;
}

type Written = {
  correlation: Correlation;
  groups: string[];
  rules: number;
  id: string;
  spelling: SqlSpelling;
  tables: string[];
};
type Condition = { from: string; condition: string; columns: string[] };

const partition = (groups: readonly string[]): string =>
  groups.length > 0 ? `PARTITION BY ${groups.join(', ')} ` : '';

const writeSpan = ({ timespanSeconds }: Correlation, groups: readonly string[]): string =>
  `span AS (${partition(groups)}ORDER BY seconds RANGE BETWEEN ${timespanSeconds} PRECEDING AND CURRENT ROW)`;

/** The events that a measure counts, by the suffix of its column: all, those from before the window, and those of the window. */
const selections = [
  { suffix: '', filter: undefined },
  { suffix: '_before', filter: 'NOT fresh' },
  { suffix: '_alone', filter: 'fresh' },
];

/** Returns the columns that say whether a match is new, and whether the events of the window fulfill the condition alone. */
const describeNew = (fulfills: (suffix: string) => string): string[] => [
  `(fresh OR NOT coalesce(${fulfills('_before')}, false)) AS is_new`,
  `(fresh AND coalesce(${fulfills('_alone')}, false)) AS is_alone`,
];

function windowed({ correlation, groups, rules, id, spelling, tables }: Written): Condition {
  const { type, percentile, thresholds } = correlation;
  const limits = thresholds.length > 0 ? thresholds : [{ operator: '>=' as CorrelationOperator, value: rules }];
  const read = (suffix: string): string => {
    const column = `measure${suffix}`;
    return spelling.afterOver?.(type, (percentile ?? 50) / 100, column) ?? column;
  };
  const fulfills = (suffix: string): string =>
    limits.map(({ operator, value }) => `${read(suffix)} ${operator} ${value}`).join(' AND ');
  const measures = selections.map(
    ({ suffix, filter }) => `${writeMeasure(correlation, { rules, spelling, filter })} AS measure${suffix}`,
  );
  const span = writeSpan(correlation, groups);
  tables.push(`measured${id} AS (\n  SELECT *, ${measures.join(',\n    ')}\n  FROM found${id}\n  WINDOW ${span}\n)`);
  return {
    from: `measured${id}`,
    condition: fulfills(''),
    columns: [`${read('')} AS value`, ...describeNew(fulfills)],
  };
}

type MeasureOptions = { rules: number; spelling: SqlSpelling; filter: string | undefined };

/** Returns what a condition compares, over the events of a span for which the filter is true. */
function writeMeasure({ type, percentile }: Correlation, { rules, spelling, filter }: MeasureOptions): string {
  const only = (sql: string): string => (filter === undefined ? sql : `CASE WHEN ${filter} THEN ${sql} END`);
  const number = only(spelling.toNumber('value'));
  if (type === 'value_count') return spelling.distinctOver(only('value'));
  if (type === 'value_sum') return `sum(${number}) OVER span`;
  if (type === 'value_avg') return `avg(${number}) OVER span`;
  if (type === 'value_percentile') return spelling.percentileOver(number, percentile! / 100);
  if (type === 'value_median') return spelling.percentileOver(number, 0.5);
  if (type === 'event_count') return `count(${only('1')}) OVER span`;
  const seen = Array.from({ length: rules }, (_, n) => {
    const isRule = [`rule = ${n + 1}`, ...(filter === undefined ? [] : [filter])].join(' AND ');
    return `max(CASE WHEN ${isRule} THEN 1 ELSE 0 END) OVER span`;
  });
  return seen.join(' + ');
}

/**
 * Each step follows the one before it: `start_2` of an event of the second rule is when the latest first step before it happened, `start_3` the
 * same for the latest second step, and so on.
 */
function ordered({ correlation, groups, rules, id, tables }: Written): Condition {
  const over = `OVER (${partition(groups)}ORDER BY seconds RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
  for (let step = 1; step <= rules; step++) {
    const starts = selections.map(({ suffix, filter }) => {
      const isStep = [`rule = ${step}`, ...(filter === undefined ? [] : [filter])].join(' AND ');
      const start = step === 1 ? 'seconds' : `max(start_${step - 1}${suffix}) ${over}`;
      return `CASE WHEN ${isStep} THEN ${start} END AS start_${step}${suffix}`;
    });
    const from = step === 1 ? `found${id}` : `steps${id}_${step - 1}`;
    tables.push(`steps${id}_${step} AS (\n  SELECT *, ${starts.join(',\n    ')}\n  FROM ${from}\n)`);
  }
  const passed = (suffix: string): string => `seconds - start_${rules}${suffix}`;
  const fulfills = (suffix: string): string => `${passed(suffix)} <= ${correlation.timespanSeconds}`;
  return {
    from: `steps${id}_${rules}`,
    condition: fulfills(''),
    columns: [`${passed('')} AS value`, ...describeNew(fulfills)],
  };
}
