import type { Expression, ValueTest } from '../../matching/expression.ts';

export const correlationTypes = [
  'event_count',
  'value_count',
  'temporal',
  'temporal_ordered',
  'value_sum',
  'value_avg',
  'value_percentile',
  'value_median',
] as const;
export type CorrelationType = (typeof correlationTypes)[number];

export type CorrelationOperator = '<' | '<=' | '>' | '>=' | '=' | '<>';

/** A condition on several events within a time span. `groupBy` contains names of fields. */
export type Correlation = {
  type: CorrelationType;
  groupBy: string[];
  timespanSeconds: number;
  thresholds: { operator: CorrelationOperator; value: number }[];
  percentile: number | null;
};

/** Thrown for what a rule may say but a target, or this converter, cannot express. */
export class UnsupportedError extends Error {}

/** A field that a query reads: its Sigma name, and the names that it may have in the logs, by priority. */
export type QueryField = { name: string; names: readonly string[] };

/** A query for one rule. `columns` are the Sigma names of the fields to return. `constants` are added to every row. */
export type RuleQuery = {
  table: string;
  /** The column with the time of an event. */
  time: string;
  fields: readonly QueryField[];
  columns: readonly string[];
  constants: Readonly<Record<string, string>>;
  where: Expression;
};

/** What one of the rules of a correlation matches. `groupBy` and `value` are names of its fields, in the order and the meaning of the correlation. */
export type CorrelationPart = { groupBy: readonly string[]; value: string | null } & (
  | ({ kind: 'events' } & CorrelatedEvents)
  | { kind: 'correlation'; query: CorrelationQuery }
);

/** The events that a rule matches. */
export type CorrelatedEvents = { table: string; fields: readonly QueryField[]; where: Expression };

/** A query for several events within a time span. `groupBy` are the names under which the fields to group by are returned. */
export type CorrelationQuery = {
  correlation: Correlation;
  parts: readonly CorrelationPart[];
  time: string;
  constants: Readonly<Record<string, string>>;
};

/** A query for whole events. The fields of the condition are names in the logs. */
export type EventsQuery = { table: string; time: string; where: Expression };

/**
 * Counts events: by the text of a field, most frequent first, by time in steps since 1970, or all of them if `by` is null. At most `limit` groups. The
 * columns of the result are those of `countColumns`. Times are in seconds since 1970, or dates.
 */
export type CountsQuery = EventsQuery & { by: { field: string } | { stepSeconds: number } | null; limit: number };

/** Returns the condition that a field equals a text in any case. */
export const equalsText = (field: string, text: string): Expression => ({
  kind: 'match',
  field,
  test: { kind: 'text', pattern: [{ text }], cased: false },
});

/** Returns the condition that both hold: the first one, and not the second one. */
export const butNot = (condition: Expression, other: Expression): Expression => ({
  kind: 'all',
  of: [condition, { kind: 'not', of: other }],
});

/** Names that no field of a log has. */
export const countColumns = { value: 'counted_value', time: 'counted_time', events: 'counted_events' };

/** A query language. The functions throw an UnsupportedError for what the language cannot express. */
export type Dialect = {
  language: string;
  writeRule: (query: RuleQuery) => string;
  writeCorrelation: (query: CorrelationQuery) => string;
  writeEvents: (query: EventsQuery) => string;
  writeCounts: (query: CountsQuery) => string;
};

/** How a language writes the parts of a condition. `field: null` is the text of the whole event. */
export type ConditionWriter = {
  match: (field: string | null, test: ValueTest) => string;
  /** The field equals one of the texts. Absent: alternatives are written one by one. */
  oneOf?: (field: string, texts: readonly string[], cased: boolean) => string;
  /** The field contains one of many texts. Absent: alternatives are written one by one. */
  containsOneOf?: (field: string, texts: readonly string[], cased: boolean) => string;
  /** The field is an address in one of many networks. Absent: alternatives are written one by one. */
  inOneOf?: (field: string, networks: readonly string[]) => string;
  not: (condition: string) => string;
  and: string;
  or: string;
  always: string;
  never: string;
};
