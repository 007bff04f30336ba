import type { PromptCase, Result, Row } from './case-prompt.ts';
import { sayCount } from './sentences.ts';

export type ScriptedClaim = { text: string; kind: 'fact' | 'assessment'; cites: Record<string, string>[] };
export type ToolRequest = { name: string; input: Record<string, unknown> };

/** A question of an investigation: the call that answers it, and what an answer incriminates, as claims. */
export type Question = {
  ask: string;
  call: ToolRequest;
  incriminates: (result: Result, found: PromptCase) => ScriptedClaim[];
};

/**
 * What an analyst asks in a kind of case. `finding` are claims of its rows that stand for themselves unless a record explains them. `open` is what
 * stays to be found out if the data do not decide it.
 */
export type Playbook = {
  questions: Question[];
  finding: ScriptedClaim[];
  /** Whether it explains such a case that the same was found before, of others too. That others travel does not explain a sign-in from abroad. */
  recursOften: boolean;
  open: string;
};

export const dayHours = 24;
export const monthHours = 30 * dayHours;

/** Returns the citation of a cell. */
export const cite = (observation: string, { rowId }: Row, field: string, value: string): Record<string, string> => ({
  observation,
  rowId,
  field,
  value,
});
/** Returns a claim of kind fact. */
export const fact = (text: string, ...cites: Record<string, string>[]): ScriptedClaim => ({
  text,
  kind: 'fact',
  cites,
});

type Span = { hours?: number; until?: string };
/** Returns a call of count_by over events with these values. */
export const countBy = (
  dataset: string,
  field: string,
  where: Record<string, string>,
  { hours = monthHours, until }: Span = {},
): ToolRequest => ({
  name: 'count_by',
  input: {
    dataset,
    field,
    where: Object.entries(where).map(([name, value]) => ({ field: name, value })),
    hours,
    limit: 50,
    ...(until === undefined ? {} : { until }),
  },
});
/** Returns a call of search_logs. */
export const searchLogs = (query: string, hours: number, until?: string): ToolRequest => ({
  name: 'search_logs',
  input: { query, hours, ...(until === undefined ? {} : { until }) },
});
/** Returns a text as an SQL literal. */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns how many events a result of count_by has for a value, and the claim that says so. */
export function readCount(
  result: Result,
  field: string,
  value: string,
): { count: number; claim: ScriptedClaim } | undefined {
  const row = result.rows.find(({ fields }) => fields[field] === value);
  const count = row?.fields['events'];
  if (!row || count === undefined) return undefined;
  const cites = [cite(result.observation, row, field, value), cite(result.observation, row, 'events', count)];
  return { count: Number(count), claim: fact(sayCount(count, field, value), ...cites) };
}

/** Returns the time of a row in epoch milliseconds. */
export const timeOf = ({ time }: Row): number => (time === null ? Number.NaN : Date.parse(time));
/** Returns a time some hours later, as ISO text. */
export const laterBy = (time: string | null | undefined, hours: number): string =>
  new Date(Date.parse(time ?? '') + hours * 3_600_000).toISOString();
