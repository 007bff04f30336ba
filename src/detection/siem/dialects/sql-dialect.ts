import { listFields } from '../../matching/expression.ts';
import {
  countColumns,
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
 * Returns the query of a correlation. Every event closes a time span that ends with it, and is a match if the span fulfills the condition. A match
 * is raised if no other match lies in its span, and once more in each period in which the events of the period fulfill the condition alone. Neither
 * depends on the window, which returns what its events raise. Spans begin before it.
 */
function writeSqlCorrelation(query: CorrelationQuery, spelling: SqlSpelling): string {
  const { correlation, time, constants } = query;
  const lookback = lookbackSeconds(query);
  const context: Context = { time, spelling, lookback, tables: [] };
  const periodSeconds = Math.max(periodSecondsMin, correlation.timespanSeconds);
  const { table, groups } = writeMatches(query, { id: '', periodSeconds }, context);
  const added = Object.entries(constants).map(
    ([name, value]) => `${spelling.literal(value)} AS ${spelling.quoteName(name)}`,
  );
  const row = spelling.rowColumns(time);
  const order = `ORDER BY ${['seconds', ...row.slice(0, -1)].join(', ')} ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING`;
  const period = periodOf(periodSeconds);
  const raised = [
    'raised AS (',
    '  SELECT *, max(seconds) OVER earlier AS earlier_seconds, max(CASE WHEN is_alone THEN 1 ELSE 0 END) OVER earlier_of_period AS earlier_alone',
    `  FROM ${table}`,
    `  WINDOW earlier AS (${partition(groups)}${order}), earlier_of_period AS (${partition([...groups, period])}${order})`,
    ')',
  ].join('\n');
  const isFirst = `earlier_seconds IS NULL OR seconds - earlier_seconds > ${correlation.timespanSeconds}`;
  const own = spelling.lookback.writeId?.(groups, period) ?? row;
  return [
    ...(spelling.lookback.header?.(lookback) ?? []),
    `WITH ${[...context.tables, raised].join(',\n')}`,
    `SELECT ${[...own, ...groups, 'value', ...added].join(', ')}`,
    'FROM raised',
    `WHERE (is_new AND (${isFirst})) OR (is_alone AND is_newly_alone AND coalesce(earlier_alone, 0) = 0)`,
  ].join('\n');
}

/** A correlation that goes on is raised once in so many seconds, or in its time span if that is longer. */
const periodSecondsMin = 3600;
const periodOf = (seconds: number): string => `floor(seconds / ${seconds})`;

/** Returns how far before its window a correlation reads: the span of a match, before it that of the match before, and the delay of events. */
export const lookbackSeconds = (query: CorrelationQuery): number =>
  query.correlation.timespanSeconds + spanSeconds(query) + arrivalSeconds;

/** Returns how many seconds lie at most between the first and the last event of a match. */
const spanSeconds = ({ correlation, parts }: CorrelationQuery): number =>
  correlation.timespanSeconds +
  Math.max(0, ...parts.map((part) => (part.kind === 'correlation' ? spanSeconds(part.query) : 0)));

/** `tables` are the common table expressions so far. */
type Context = { time: string; spelling: SqlSpelling; lookback: number; tables: string[] };

/** A table of matches with the columns of the row, `seconds`, `groups`, `value`, and those of `describeNew`. */
type Matches = { table: string; groups: string[] };

/** `id` tells the tables of several correlations apart. `periodSeconds`: see `describeNew`. */
type MatchesOptions = { id: string; periodSeconds: number | null };

/** Adds the tables of a correlation. */
function writeMatches(query: CorrelationQuery, { id, periodSeconds }: MatchesOptions, context: Context): Matches {
  const { correlation, parts } = query;
  const { spelling, tables, time } = context;
  const groups = groupColumns(correlation, spelling);
  const selects = parts.flatMap((part, index) =>
    writePart(part, { id: `${id}_${index + 1}`, rule: index + 1, groups }, context),
  );
  tables.push(`found${id} AS (\n  ${selects.join('\n  UNION ALL\n  ')}\n)`);
  const written: Written = { correlation, groups, rules: parts.length, id, periodSeconds, spelling, tables };
  const { from, condition, columns } = correlation.type === 'temporal_ordered' ? ordered(written) : windowed(written);
  const list = [...spelling.rowColumns(time), 'seconds', ...groups, ...columns].join(', ');
  tables.push(`matches${id} AS (\n  SELECT ${list}\n  FROM ${from}\n  WHERE ${condition}\n)`);
  return { table: `matches${id}`, groups };
}

const ownColumns = ['rule', 'seconds', 'value', 'fresh', 'is_new', 'is_alone', 'is_newly_alone', 'measure'];
const groupColumns = ({ groupBy }: Correlation, { quoteName }: SqlSpelling): string[] =>
  groupBy.map((name) => quoteName(ownColumns.includes(name.toLowerCase()) ? `${name}_` : name));

type PartOptions = { id: string; rule: number; groups: readonly string[] };

/** Returns a SELECT for each source of the events of one rule. `fresh`: the event belongs to the window. */
function writePart(part: CorrelationPart, { id, rule, groups }: PartOptions, context: Context): string[] {
  const { time, spelling, lookback } = context;
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
    const inner = writeMatches(part.query, { id, periodSeconds: null }, context);
    const names = new Map(part.query.correlation.groupBy.map((name, index) => [name, inner.groups[index]!]));
    return [`SELECT ${select(names, 'seconds', 'is_new AS fresh')}\n  FROM ${inner.table}`];
  }
  const { fields, where } = part;
  const names = columnNames(fields, { time, spelling });
  const condition = writeCondition(where, sqlConditions(names, spelling), '    ');
  const seconds = `${spelling.secondsOf(row.at(-1)!)} AS seconds`;
  // A condition on each source shows which events of it can matter.
  return spelling.lookback.sources(part.table, lookback).map((source, index) => {
    const logs = `logs${id}${index === 0 ? '' : '_before'}`;
    context.tables.push(`${logs} AS (${writeLogs(source, fields, { time, spelling, where })})`);
    return `SELECT ${select(names, seconds, 'fresh')}\n  FROM ${logs}\n  WHERE ${condition}`;
  });
}

type Written = {
  correlation: Correlation;
  groups: string[];
  rules: number;
  id: string;
  periodSeconds: number | null;
  spelling: SqlSpelling;
  tables: string[];
};
type Condition = { from: string; condition: string; columns: string[] };

const partition = (groups: readonly string[]): string =>
  groups.length > 0 ? `PARTITION BY ${groups.join(', ')} ` : '';

/** The events that a measure counts: those of the time span, or of those the events of the match's period, or of either those from before the window. */
type Selection = { suffix: string; window: string; partition: string; filter?: string };

function listSelections({ groups, periodSeconds }: Written): Selection[] {
  const all = { suffix: '', window: 'span', partition: partition(groups) };
  const alone = (seconds: number): Selection => ({
    suffix: '_alone',
    window: 'period_span',
    partition: partition([...groups, periodOf(seconds)]),
  });
  const base = periodSeconds === null ? [all] : [all, alone(periodSeconds)];
  return base.flatMap((one) => [one, { ...one, suffix: `${one.suffix}_before`, filter: 'NOT fresh' }]);
}

/**
 * Returns the columns that say whether a match is new, and with a period also whether the events of the period fulfill the condition alone, and whether
 * they did not before the window.
 */
function describeNew(fulfills: (suffix: string) => string, { periodSeconds }: Written): string[] {
  const isNew = (suffix: string): string => `(fresh OR NOT coalesce(${fulfills(`${suffix}_before`)}, false))`;
  const ofPeriod = [`coalesce(${fulfills('_alone')}, false) AS is_alone`, `${isNew('_alone')} AS is_newly_alone`];
  return [`${isNew('')} AS is_new`, ...(periodSeconds === null ? [] : ofPeriod)];
}

function windowed(written: Written): Condition {
  const { correlation, rules, id, spelling, tables } = written;
  const { type, percentile, thresholds } = correlation;
  const limits = thresholds.length > 0 ? thresholds : [{ operator: '>=' as CorrelationOperator, value: rules }];
  const read = (suffix: string): string => {
    const column = `measure${suffix}`;
    return spelling.afterOver?.(type, (percentile ?? 50) / 100, column) ?? column;
  };
  const fulfills = (suffix: string): string =>
    limits.map(({ operator, value }) => `${read(suffix)} ${operator} ${value}`).join(' AND ');
  const selections = listSelections(written);
  const measures = selections.map(
    (selection) => `${writeMeasure(correlation, { rules, spelling, selection })} AS measure${selection.suffix}`,
  );
  const frame = `ORDER BY seconds RANGE BETWEEN ${correlation.timespanSeconds} PRECEDING AND CURRENT ROW`;
  const windows = new Map(selections.map(({ window, partition }) => [window, `${window} AS (${partition}${frame})`]));
  const window = [...windows.values()].join(', ');
  tables.push(`measured${id} AS (\n  SELECT *, ${measures.join(',\n    ')}\n  FROM found${id}\n  WINDOW ${window}\n)`);
  return {
    from: `measured${id}`,
    condition: fulfills(''),
    columns: [`${read('')} AS value`, ...describeNew(fulfills, written)],
  };
}

type MeasureOptions = { rules: number; spelling: SqlSpelling; selection: Selection };

/** Returns what a condition compares, over the selected events of a span. */
function writeMeasure({ type, percentile }: Correlation, { rules, spelling, selection }: MeasureOptions): string {
  const { window, filter } = selection;
  const only = (sql: string): string => (filter === undefined ? sql : `CASE WHEN ${filter} THEN ${sql} END`);
  const number = only(spelling.toNumber('value'));
  if (type === 'value_count') return spelling.distinctOver(only('value'), window);
  if (type === 'value_sum') return `sum(${number}) OVER ${window}`;
  if (type === 'value_avg') return `avg(${number}) OVER ${window}`;
  if (type === 'value_percentile') return spelling.percentileOver(number, percentile! / 100, window);
  if (type === 'value_median') return spelling.percentileOver(number, 0.5, window);
  if (type === 'event_count') return `count(${only('1')}) OVER ${window}`;
  const seen = Array.from({ length: rules }, (_, n) => {
    const isRule = [`rule = ${n + 1}`, ...(filter === undefined ? [] : [filter])].join(' AND ');
    return `max(CASE WHEN ${isRule} THEN 1 ELSE 0 END) OVER ${window}`;
  });
  return seen.join(' + ');
}

/**
 * Each step follows the one before it: `start_2` of an event of the second rule is when the latest first step before it happened, `start_3` the
 * same for the latest second step, and so on.
 */
function ordered(written: Written): Condition {
  const { correlation, rules, id, tables } = written;
  for (let step = 1; step <= rules; step++) {
    const starts = listSelections(written).map(({ suffix, filter, partition: within }) => {
      const over = `OVER (${within}ORDER BY seconds RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
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
    columns: [`${passed('')} AS value`, ...describeNew(fulfills, written)],
  };
}
