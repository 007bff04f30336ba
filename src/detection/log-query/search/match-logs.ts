import { hash } from 'node:crypto';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Expression } from '../../matching/expression.ts';
import { renameFields } from '../../matching/compile-expression.ts';
import type { QueryWindow, SearchResult } from '../../siem/connector.ts';
import {
  findField,
  isCatalogFull,
  systemColumns,
  textColumn,
  type CatalogField,
} from '../../log-store/catalog/catalog.ts';
import { duck, joinSql, quoteIdentifier, quoteLiteral, type SqlText } from '../../log-engine/sql/sql-text.ts';
import { chooseGuards, type Guard } from '../../matching/rule-set.ts';
import { eventTextSql } from '../../log-engine/sql/field-sql.ts';
import type { MatchSet } from '../../log-engine/queries/protocol.ts';
import { withQueryFiles } from './window-scans.ts';
import { inspectQuery } from './inspect-query.ts';
import { planSearch, type SearchLogsDeps } from './search-logs.ts';
import { createSearchPlan, describeDrift, emptyResult, type DatasetContents } from './search-plan.ts';

/**
 * A condition over the events of one dataset. Each field of the condition has the columns and paths that it may be in, by priority. `columns` are the
 * fields of a row by the name that they get there, and `constants` are added to every row.
 */
export type LogRule = {
  where: Expression;
  fields: ReadonlyMap<string, readonly string[]>;
  columns: { name: string; field: string }[];
  constants: Readonly<Record<string, string>>;
};

/** The events of a dataset in a window. Two windows with the same `key` have the same events. */
export type MatchPlan = { dataset: string; window: QueryWindow; contents: DatasetContents; key: string };

/** The result of each rule by its index. Null for rules that match too many rows. */
export type MatchedRules = (SearchResult | null)[];

/** Rules that are evaluated together, prepared once. `fields` are the names of each field of the set, by priority. Null: the text of the event. */
export type LogRuleSet = {
  rules: readonly LogRule[];
  set: MatchSet & { key: string };
  fields: readonly (readonly string[] | null)[];
  textSql: (json: SqlText) => SqlText;
};

const earliestSince = new Date(0);
const matchLimits = { rowsMax: 10_000, bytesMax: 64 * 1024 * 1024, timeoutMs: 120_000 };

/**
 * Plans the evaluation of rules on the events of a window, which is sealed first. Returns undefined for a dataset with more keys than the catalog
 * lists.
 */
export async function planMatches(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { dataset, window }: { dataset: string; window: QueryWindow },
  signal: AbortSignal,
): Promise<MatchPlan | undefined> {
  const query = duck`SELECT _id FROM ${quoteIdentifier(dataset)}`;
  const { contents } = await planSearch(deps, orgId, { query, window }, signal);
  const { lateSince } = window;
  const isSince = lateSince && lateSince > earliestSince;
  // Detections of different ages have the same events unless events may be late and older than one of them.
  if (isSince && (contents.lateFrom === undefined || contents.lateFrom >= lateSince))
    return planMatches(deps, orgId, { dataset, window: { ...window, lateSince: earliestSince } }, signal);
  const fields = contents.fields.get(dataset);
  if (fields && isCatalogFull(fields)) return undefined;
  const { from, to, clock, ingestedBefore, earlierApart } = window;
  const key = JSON.stringify([
    orgId,
    dataset,
    [from, to, clock, ingestedBefore, lateSince, earlierApart],
    ...contents.scans,
    fields,
    [...(contents.drift.get(dataset) ?? [])],
    // Named in the result of a dataset that never had an event.
    fields ? [] : contents.otherDatasets,
  ]);
  return { dataset, window, contents, key };
}

/**
 * Evaluates rules on the events of a window, which are read once for all of them. The results are those of the rules as queries. Throws a
 * SiemError.
 */
export async function matchLogs(
  deps: SearchLogsDeps,
  orgId: OrgId,
  plan: MatchPlan,
  ruleSet: LogRuleSet,
): Promise<MatchedRules> {
  const began = performance.now();
  const { dataset, contents } = plan;
  const { rules } = ruleSet;
  if (!contents.fields.has(dataset))
    return rules.map(() => emptyResult([dataset], contents, { aggregate: false, began }));
  const found = await findMatches(deps, orgId, plan, ruleSet);
  return rules.map((rule, index): SearchResult | null => {
    const matched = found.has(index) ? found.get(index)! : [];
    if (!matched) return null;
    const used = new Set([...rule.fields.values()].flat().flatMap((name) => usedNames(name)));
    return {
      rows: matched,
      total: matched.length,
      truncated: false,
      columns: ['_id', '_time', ...rule.columns.map(({ name }) => name), ...Object.keys(rule.constants)],
      aggregate: false,
      noData: false,
      early: contents.early,
      ms: performance.now() - began,
      // All fields of a rule may be missing.
      warnings: describeDrift(contents, used),
    };
  });
}

/** Returns the rows of the rules that match events of a window, by the index of the rule. Null for too many rows. Throws a SiemError. */
export async function findMatches(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { dataset, window, contents }: MatchPlan,
  { set, fields: names, textSql }: LogRuleSet,
): Promise<Map<number, SearchResult['rows'] | null>> {
  const catalog = contents.fields.get(dataset);
  if (!catalog) return new Map();
  const { sql, unknownHeads, fields } = planReading(names, dataset, catalog);
  const inspected = await inspectQuery(deps, orgId, sql);
  const plan = createSearchPlan(inspected, contents, window, { textSql });
  const { unknownPaths: _optional, ...query } = plan.buildJob({ columns: new Map(), heads: unknownHeads });
  const { timeoutMs, ...limits } = matchLimits;
  const { rows } = await withQueryFiles(deps.segmentStore, orgId, contents.segments, () =>
    deps.engine.match(orgId, { query, fields, set, ...limits }, { timeoutMs }),
  );
  return new Map(rows.map((row) => [row['rule'] as number, row['rows'] as SearchResult['rows'] | null]));
}

/** Prepares rules for any number of windows. Fields of the same names are one field of the set, whatever they are called in the rules. */
export function createLogRuleSet(rules: readonly LogRule[]): LogRuleSet {
  const fields: (readonly string[] | null)[] = [];
  const indexes = new Map<string, number>();
  const fieldOf = (names: readonly string[] | null): number => {
    const key = JSON.stringify(names);
    const index = indexes.get(key) ?? fields.push(names) - 1;
    indexes.set(key, index);
    return index;
  };
  const planned = rules.map(({ where, columns, constants, fields: names }) => ({
    where: renameFields(where, (field) => {
      const index = fieldOf(field === null ? null : names.get(field)!);
      return field === null ? null : String(index);
    }),
    columns: columns.map(({ name, field }) => ({ name, field: fieldOf(names.get(field)!) })),
    constants,
  }));
  const textField = indexes.get('null') ?? null;
  const key = hash('sha256', JSON.stringify([textField, planned]));
  return {
    rules,
    set: { key, textField, rules: planned },
    fields,
    textSql: filteredTextSql(rules.map((rule) => rule.where)),
  };
}

const usedNames = (name: string): string[] => {
  const parts = name.toLowerCase().split('.');
  return [...parts, parts.join('.'), parts.slice(1).join('.')];
};

const isColumn = (name: string, fields: CatalogField[]): boolean =>
  [...systemColumns, textColumn].includes(name.toLowerCase()) || findField(fields, name) !== undefined;

const isUnknownColumn = (name: string, fields: CatalogField[]): boolean =>
  !name.includes('.') && !isColumn(name, fields);

/** Returns the query that reads fields as text, and the positions of each field in its result, by priority. */
function planReading(
  names: LogRuleSet['fields'],
  dataset: string,
  catalog: CatalogField[],
): { sql: SqlText; unknownHeads: Set<string>; fields: number[][] } {
  const columns: SqlText[] = [];
  const positions = new Map<string, number | undefined>();
  const unknownHeads = new Set<string>();
  const addColumn = (sql: SqlText): number =>
    columns.push(duck`${sql} AS ${quoteIdentifier(`c${columns.length}`)}`) + 1;
  const readName = (name: string): number | undefined => {
    if (positions.has(name)) return positions.get(name);
    const parts = name.split('.');
    if (parts.length > 1 && !isColumn(parts[0]!, catalog) && !findField(catalog, name))
      unknownHeads.add(parts[0]!.toLowerCase());
    const path = parts
      .slice(1)
      .reduce<SqlText>((sql, part) => duck`${sql}.${quoteIdentifier(part)}`, quoteIdentifier(parts[0]!));
    const position = isUnknownColumn(name, catalog) ? undefined : addColumn(duck`CAST(${path} AS VARCHAR)`);
    positions.set(name, position);
    return position;
  };
  const fields = names.map((one) =>
    one
      ? one.map((name) => readName(name)).filter((position) => position !== undefined)
      : [addColumn(quoteIdentifier(textColumn))],
  );
  const sql = duck`SELECT ${joinSql([duck`_id`, duck`_time`, ...columns])} FROM ${quoteIdentifier(dataset)}`;
  return { sql, unknownHeads, fields };
}

const patternCharsMax = 4000;
/** ASCII without the characters that encoders often escape, because JSON needs it or HTML does. */
const plainRun = /[^\0-\x1f"&'/<>\\\x7f-\uffff]+/g;

/**
 * Returns SQL for the text of an event, like `eventTextSql`, that may be null where that changes none of these conditions. Most events have none of
 * the texts that conditions look for, and decoding takes longer than reading the fields of an event.
 */
function filteredTextSql(conditions: readonly Expression[]): (json: SqlText) => SqlText {
  const literals = new Set<string>();
  for (const guard of conditions.flatMap((condition) => listDecisive(condition))) {
    const literal = guard && findPlainRun(guard.text);
    if (literal === undefined) return eventTextSql;
    literals.add(literal);
  }
  const pattern = writePattern([...literals]);
  if (literals.size === 0 || pattern.length > patternCharsMax) return eventTextSql;
  return (json) =>
    duck`CASE WHEN regexp_matches(lower(${json}), ${quoteLiteral(pattern)}) THEN ${eventTextSql(json)} END`;
}

/**
 * Returns texts of an event so that a condition is the same with and without the event's text if none of them is in it. Undefined stands for a test
 * that requires none.
 */
function listDecisive(condition: Expression): (Guard | undefined)[] {
  const guards = chooseGuards(condition, costOf);
  if (guards?.every(({ field }) => field === null)) return [...guards];
  if (condition.kind === 'match') return condition.field === null ? [undefined] : [];
  return condition.kind === 'not' ? listDecisive(condition.of) : condition.of.flatMap((one) => listDecisive(one));
}

/** Prefers long texts of the event. */
const costOf = (guards: readonly Guard[]): number =>
  guards.reduce((sum, { field, text }) => sum + (field === null ? 1 / text.length : Infinity), 0);

const findPlainRun = (text: string): string | undefined =>
  text.match(plainRun)?.toSorted((a, b) => b.length - a.length)[0];

/** Returns a regular expression for JSON, in lower case, that has one of the texts or an escape of one of their characters. */
function writePattern(literals: readonly string[]): string {
  const characters = [...new Set(literals.join(''))];
  const codes = characters.flatMap((character) => [character, character.toUpperCase()]).map(toCode);
  // The other characters whose lower case is an ASCII letter.
  const escapes = [...new Set([...codes, toCode('\u0130'), toCode('\u212a')])].join('|');
  const texts = literals.map((literal) => literal.replaceAll(/[^\w ]/g, String.raw`\$&`));
  // A backslash that is itself escaped begins no escape.
  return [...texts, String.raw`[^\\](?:\\\\)*\\u(?:${escapes})`].join('|');
}

const toCode = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');
