import { type CorrelationRule, type DocumentHead, rejectUnknownKeys, SigmaError } from './rule.ts';
import { correlationTypes, type CorrelationOperator, type CorrelationType } from '../../siem/dialects/dialect.ts';
import { textList } from './read-documents.ts';

type Fields = Record<string, unknown>;
type CorrelationFields = Omit<CorrelationRule, keyof DocumentHead>;

const operators: Record<string, CorrelationOperator> = { lt: '<', lte: '<=', gt: '>', gte: '>=', eq: '=', neq: '<>' };
const unitSeconds: Record<string, number> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  M: 2_629_746,
  y: 31_556_952,
};
const needField: readonly CorrelationType[] = [
  'value_count',
  'value_sum',
  'value_avg',
  'value_percentile',
  'value_median',
];

const correlationKeys = ['type', 'rules', 'group-by', 'timespan', 'timeframe', 'condition', 'aliases', 'generate'];

/** Parses the `correlation` of a correlation rule. Throws a SigmaError. */
export function parseCorrelation(value: unknown): CorrelationFields {
  const correlation = toMap(value, ['correlation'], 'correlation');
  rejectUnknownKeys(correlation, correlationKeys, ['correlation']);
  const type = correlationTypes.find((one) => one === correlation['type']);
  if (!type) throw fail('type', `type must be one of ${correlationTypes.join(', ')}`);
  const condition = conditionOf(correlation, type);
  const rules = textList(correlation, 'rules');
  if (rules.length === 0) throw fail('rules', 'rules must list the ids or names of at least one rule');
  if (condition.fields.length === 0 && needField.includes(type))
    throw fail('condition', `${type} requires a field in its condition`);
  if (type === 'value_percentile' && condition.percentile === null)
    throw fail('condition', 'value_percentile requires a percentile from 0 to 100 in its condition');
  return {
    kind: 'correlation',
    type,
    rules,
    groupBy: textList(correlation, 'group-by'),
    timespanSeconds: timespanOf(correlation),
    ...condition,
    aliases: aliasesOf(correlation),
    generate: correlation['generate'] === true,
  };
}

function fail(key: string, message: string): SigmaError {
  return new SigmaError(['correlation', key], message);
}

function toMap(value: unknown, path: string[], name: string): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new SigmaError(path, `${name} must be a map`);
  return value as Fields;
}

function timespanOf(correlation: Fields): number {
  const text = correlation['timespan'] ?? correlation['timeframe'];
  const match = typeof text === 'string' ? /^(\d{1,6})([smhdwMy])$/.exec(text) : null;
  const seconds = match ? Number(match[1]) * unitSeconds[match[2]!]! : 0;
  if (seconds <= 0) throw fail('timespan', 'timespan must be a number with a unit, such as 30s, 5m, 1h or 7d');
  return seconds;
}

type Condition = Pick<CorrelationRule, 'thresholds' | 'fields' | 'percentile'>;

function conditionOf(correlation: Fields, type: CorrelationType): Condition {
  const isTemporal = type.startsWith('temporal');
  const given = correlation['condition'];
  if (given === undefined && isTemporal) return { thresholds: [], fields: [], percentile: null };
  if (typeof given === 'string')
    throw fail('condition', 'a condition over rules as text is not supported. List the rules, which must all match');
  const condition = toMap(given, ['correlation', 'condition'], 'condition');
  const thresholds = Object.entries(condition).flatMap(([key, value]) => {
    const operator = Object.hasOwn(operators, key) ? operators[key] : undefined;
    if (!operator) {
      if (!['field', 'percentile'].includes(key))
        throw fail('condition', `"${key}" is not an operator. Use ${Object.keys(operators).join(', ')}`);
      return [];
    }
    const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN;
    if (!Number.isFinite(number)) throw fail('condition', `${key} requires a number`);
    return [{ operator, value: number }];
  });
  if (thresholds.length === 0) throw fail('condition', 'condition requires an operator such as gte');
  const percentile = condition['percentile'] === undefined ? null : Number(condition['percentile']);
  if (percentile !== null && !(percentile >= 0 && percentile <= 100))
    throw fail('condition', 'percentile must be from 0 to 100');
  return { thresholds, fields: textList(condition, 'field'), percentile };
}

function aliasesOf(correlation: Fields): CorrelationRule['aliases'] {
  if (correlation['aliases'] === undefined || correlation['aliases'] === null) return {};
  const aliases = toMap(correlation['aliases'], ['correlation', 'aliases'], 'aliases');
  return Object.fromEntries(
    Object.entries(aliases).map(([alias, value]) => {
      const byRule = toMap(value, ['correlation', 'aliases', alias], `the alias ${alias}`);
      return [alias, Object.fromEntries(Object.entries(byRule).map(([rule, field]) => [rule, String(field)]))];
    }),
  );
}
