import type { CorrelationOperator, CorrelationRule } from '../model/rule.ts';
import type { CorrelatedRule, CorrelationQuery } from './dialect.ts';
import { columnNames, sqlConditions, writeLogs, type SqlSpelling } from './sql-conditions.ts';
import { writeCondition } from './write-condition.ts';

/**
 * Returns the query of a correlation. `matches` are the events of all its rules, with the time in seconds. Every event closes a time span that
 * ends with it, and is returned if the span fulfills the condition.
 */
export function writeSqlCorrelation(
  { correlation, rules, time, constants }: CorrelationQuery,
  spelling: SqlSpelling,
): string {
  const groups = groupColumns(correlation, spelling);
  const context: Context = { correlation, groups, rules: rules.length, time, spelling };
  const added = Object.entries(constants).map(
    ([name, value]) => `${spelling.literal(value)} AS ${spelling.quoteName(name)}`,
  );
  const { tables, from, condition, columns } =
    correlation.type === 'temporal_ordered' ? ordered(context) : windowed(context);
  const logs = rules.map(
    (rule, index) =>
      `logs_${index + 1} AS (${writeLogs(rule.table, rule.fields, { time, spelling, where: rule.where })})`,
  );
  const matches = rules.map((rule, index) => writeMatches(rule, index + 1, context));
  return [
    `WITH ${[...logs, `matches AS (\n  ${matches.join('\n  UNION ALL\n  ')}\n)`, ...tables].join(',\n')}`,
    `SELECT ${[...spelling.rowColumns(time), ...groups, ...columns, ...added].join(', ')}`,
    `FROM ${from}`,
    `WHERE ${condition}`,
  ].join('\n');
}

type Context = { correlation: CorrelationRule; groups: string[]; rules: number; time: string; spelling: SqlSpelling };

const groupColumns = ({ groupBy }: CorrelationRule, { quoteName }: SqlSpelling): string[] =>
  groupBy.map((name) => quoteName(['rule', 'seconds', 'value'].includes(name.toLowerCase()) ? `${name}_` : name));

function writeMatches(rule: CorrelatedRule, number: number, { groups, time, spelling }: Context): string {
  const names = columnNames(rule.fields, { time, spelling });
  const row = spelling.rowColumns(time);
  const columns = [
    ...row,
    `${spelling.secondsOf(row.at(-1)!)} AS seconds`,
    `${number} AS rule`,
    ...(rule.value === null ? [] : [`${names.get(rule.value)!} AS value`]),
    ...rule.groupBy.map((name, index) => `${names.get(name)!} AS ${groups[index]!}`),
  ];
  const condition = writeCondition(rule.where, sqlConditions(names, spelling), '    ');
  return `SELECT ${columns.join(', ')}\n  FROM logs_${number}\n  WHERE ${condition}`;
}

type Windowed = { tables: string[]; from: string; condition: string; columns: string[] };

const partition = (groups: readonly string[]): string =>
  groups.length > 0 ? `PARTITION BY ${groups.join(', ')} ` : '';

function windowed({ correlation, groups, rules, spelling }: Context): Windowed {
  const { type, timespanSeconds, percentile, thresholds } = correlation;
  const number = spelling.toNumber('value');
  const measure = ((): string => {
    if (type === 'value_count') return spelling.distinctOver('value');
    if (type === 'value_sum') return `sum(${number}) OVER span`;
    if (type === 'value_avg') return `avg(${number}) OVER span`;
    if (type === 'value_percentile') return spelling.percentileOver(number, percentile! / 100);
    if (type === 'value_median') return spelling.percentileOver(number, 0.5);
    if (type === 'event_count') return 'count(*) OVER span';
    const seen = Array.from({ length: rules }, (_, n) => `max(CASE WHEN rule = ${n + 1} THEN 1 ELSE 0 END) OVER span`);
    return seen.join(' + ');
  })();
  const measured = spelling.afterOver?.(type, (percentile ?? 50) / 100) ?? 'measure';
  const span = `span AS (${partition(groups)}ORDER BY seconds RANGE BETWEEN ${timespanSeconds} PRECEDING AND CURRENT ROW)`;
  const limits = thresholds.length > 0 ? thresholds : [{ operator: '>=' as CorrelationOperator, value: rules }];
  return {
    tables: [`measured AS (\n  SELECT *, ${measure} AS measure\n  FROM matches\n  WINDOW ${span}\n)`],
    from: 'measured',
    condition: limits.map(({ operator, value }) => `${measured} ${operator} ${value}`).join(' AND '),
    columns: [`${measured} AS value`],
  };
}

/**
 * Each step follows the one before it: `start_2` of an event of the second rule is when the latest first step before it happened, `start_3` the
 * same for the latest second step, and so on.
 */
function ordered({ correlation, groups, rules }: Context): Windowed {
  const over = `OVER (${partition(groups)}ORDER BY seconds RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
  const tables = ['steps_1 AS (\n  SELECT *, CASE WHEN rule = 1 THEN seconds END AS start_1 FROM matches\n)'];
  for (let step = 2; step <= rules; step++)
    tables.push(
      `steps_${step} AS (\n  SELECT *, CASE WHEN rule = ${step} THEN max(start_${step - 1}) ${over} END AS start_${step} FROM steps_${step - 1}\n)`,
    );
  return {
    tables,
    from: `steps_${rules}`,
    condition: `seconds - start_${rules} <= ${correlation.timespanSeconds}`,
    columns: [`seconds - start_${rules} AS value`],
  };
}
