import {
  type CorrelationRule,
  type DetectionRule,
  type InvalidDocument,
  type RuleError,
  type SigmaRule,
} from '../rules/rule.ts';
import { UnsupportedError } from '../../siem/dialects/dialect.ts';
import type { CorrelationPart, CorrelationQuery, Dialect, RuleQuery } from '../../siem/dialects/dialect.ts';
import { lookbackSeconds } from '../../siem/dialects/sql-dialect.ts';
import type { Mappings } from '../mappings/load-mappings.ts';
import { logSourceName, mapLogSource, type KnownDataset, type RuleMapping } from '../mappings/map-rule.ts';
import { parseRules } from '../rules/parse-rules.ts';
import { constantsOf, toRuleQuery } from './convert-rule.ts';
import { collectRules, type RuleCollection } from './rule-collection.ts';

/** The outcome for one document. `query` is null unless it was converted, and for filters, which become part of other rules. */
export type ConvertedDocument = {
  id: string | null;
  title: string | null;
  kind: SigmaRule['kind'] | null;
  status: 'converted' | 'unsupported' | 'invalid';
  query: string | null;
  dataset: string | null;
  warnings: string[];
  errors: RuleError[];
};

/**
 * A document with its outcome. `entity` are the fields that identify what a match is about. `isPart`: only a correlation rule uses it. `ruleQuery` is
 * what the query of a rule about single events was written from.
 */
export type ConvertedRule = {
  document: SigmaRule | InvalidDocument;
  result: ConvertedDocument;
  entity: string | null;
  ruleQuery: RuleQuery | null;
  isPart: boolean;
};

/** The target of a conversion. `datasets`: those that exist, if that is known. `queryCharsMax`: the longest query that the target accepts.
 * `timeColumn`: the column with the time of an event. `allowUnknown`: convert rules of log sources that no mapping knows. */
export type ConversionTarget = {
  mappings: Mappings;
  kind: string;
  dialect: Dialect;
  datasets: readonly KnownDataset[] | null;
  queryCharsMax: number;
  timeColumn: string;
  allowUnknown: boolean;
};

/** Converts every document of a text to the query language of a target. One that fails does not affect the others. */
export function convertRules(text: string, target: ConversionTarget): ConvertedRule[] {
  const collection = collectRules(parseRules(text, target.mappings.placeholders));
  return collection.documents.map((document) => {
    const isPart = document.kind !== 'invalid' && collection.partOf.has(document);
    return { document, isPart, ...convertDocument(document, collection, target) };
  });
}

type Outcome = Pick<ConvertedRule, 'result' | 'entity' | 'ruleQuery'>;

const nothing = { entity: null, ruleQuery: null };

function convertDocument(
  document: SigmaRule | InvalidDocument,
  collection: RuleCollection,
  target: ConversionTarget,
): Outcome {
  const { id, title } = document;
  const base = { id, title, query: null, dataset: null, warnings: [] };
  if (document.kind === 'invalid')
    return { ...nothing, result: { ...base, kind: null, status: 'invalid', errors: document.errors } };
  const head = { ...base, kind: document.kind, errors: [] };
  if (document.kind === 'filter') {
    const warning = `A filter. It is part of ${collection.filtered.get(document)} rules of this request.`;
    return { ...nothing, result: { ...head, status: 'converted', warnings: [warning] } };
  }
  try {
    const { query, dataset, warnings, entity, ruleQuery } =
      document.kind === 'rule' ? convertOne(document, target) : convertCorrelation(document, collection, target);
    if (query.length > target.queryCharsMax)
      throw new UnsupportedError(
        `the query has ${query.length} characters. At most ${target.queryCharsMax} are allowed`,
      );
    const part = collection.partOf.get(document);
    const notes = part ? [`Part of the correlation rule ${part.title}, so import makes no detection of it.`] : [];
    return {
      entity,
      ruleQuery,
      result: { ...head, status: 'converted', query, dataset, warnings: [...warnings, ...notes] },
    };
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    const errors = [{ line: document.line, message: error.message }];
    return { ...nothing, result: { ...head, status: 'unsupported', errors } };
  }
}

type Converted = {
  query: string;
  dataset: string;
  warnings: string[];
  entity: string | null;
  ruleQuery: RuleQuery | null;
};

function mapRule(
  { logSource }: DetectionRule,
  { mappings, kind, datasets, allowUnknown }: ConversionTarget,
): RuleMapping {
  return mapLogSource(mappings, logSource, { kind, datasets: datasets ?? [], allowUnknown });
}

function convertOne(rule: DetectionRule, target: ConversionTarget): Converted {
  const mapping = mapRule(rule, target);
  const query = toRuleQuery(rule, mapping, target.timeColumn);
  return {
    query: target.dialect.writeRule(query),
    dataset: mapping.table,
    warnings: [...describeUnused(rule), ...describeMapping(rule, mapping, target)],
    entity: mapping.entity[0] ?? null,
    ruleQuery: query,
  };
}

const describeUnused = ({ unused }: DetectionRule): string[] =>
  unused.length === 0 ? [] : [`The condition does not use ${unused.join(', ')}.`];

function describeMapping(
  { logSource }: DetectionRule,
  mapping: RuleMapping,
  { datasets, kind }: ConversionTarget,
): string[] {
  const source = logSourceName(logSource);
  if (!mapping.isMapped)
    return [
      `No mapping has the log source ${source} for ${kind}, so fields keep their Sigma names in ${mapping.table}.`,
    ];
  if (datasets === null || mapping.isRecognized) return [];
  return [`No dataset has the fields of ${source} yet. The query reads ${mapping.table} in the form ${mapping.shape}.`];
}

const daySeconds = 86_400;

function convertCorrelation(
  correlation: CorrelationRule,
  collection: RuleCollection,
  target: ConversionTarget,
): Converted {
  const { query, tables, warnings } = planCorrelation(correlation, [], { collection, target });
  const days = Math.ceil(lookbackSeconds(query) / daySeconds);
  const slow = `The time span is long, so that every run also reads the events of the ${days} days before its window.`;
  return {
    query: target.dialect.writeCorrelation(query),
    dataset: [...new Set(tables)].join(', '),
    warnings: [...new Set([...warnings, ...(days > 1 ? [slow] : [])])],
    entity: correlation.groupBy[0] ?? null,
    ruleQuery: null,
  };
}

type PlannedCorrelation = { query: CorrelationQuery; tables: string[]; warnings: string[] };
type PlanContext = { collection: RuleCollection; target: ConversionTarget };

/** Returns the query of a correlation with those of the correlations that it uses. `users` are the correlations that use it. */
function planCorrelation(
  correlation: CorrelationRule,
  users: readonly CorrelationRule[],
  { collection, target }: PlanContext,
): PlannedCorrelation {
  if (users.includes(correlation)) throw new UnsupportedError(`the correlation ${correlation.title} uses itself`);
  if (correlation.fields.length > 1) throw new UnsupportedError('a condition over several fields is not supported');
  const rules = correlation.rules.map((reference) => {
    const rule = collection.findRule(reference);
    if (rule) return { reference, rule };
    throw new UnsupportedError(
      `the rule ${reference} is not in this request. Send it together with the correlation rule`,
    );
  });
  rejectUnknownAliases(correlation, rules);
  const planned: Omit<PlannedCorrelation, 'query'> = { tables: [], warnings: [] };
  const parts = rules.map(({ reference, rule }): CorrelationPart => {
    const fieldOf = (name: string): string =>
      correlation.aliases[name]?.[reference] ?? correlation.aliases[name]?.[rule.id ?? ''] ?? name;
    const groupBy = correlation.groupBy.map((name) => fieldOf(name));
    const [value = null] = correlation.fields.map((name) => fieldOf(name));
    const used = [...groupBy, ...(value === null ? [] : [value])];
    if (rule.kind === 'correlation') {
      const { query, tables, warnings } = planCorrelation(rule, [...users, correlation], { collection, target });
      const missing = used.find((name) => !rule.groupBy.includes(name));
      if (missing !== undefined)
        throw new UnsupportedError(`${reference} is a correlation rule that does not group by ${missing}`);
      planned.tables.push(...tables);
      planned.warnings.push(...warnings);
      return { kind: 'correlation', query, groupBy, value };
    }
    const mapping = mapRule(rule, target);
    const { fields: own, where } = toRuleQuery(rule, mapping, target.timeColumn);
    const fields = [...new Set([...own.map(({ name }) => name), ...used])].map((name) => ({
      name,
      names: mapping.names(name),
    }));
    planned.tables.push(mapping.table);
    planned.warnings.push(...describeUnused(rule), ...describeMapping(rule, mapping, target));
    return { kind: 'events', table: mapping.table, fields, where, groupBy, value };
  });
  const query = { correlation, parts, time: target.timeColumn, constants: constantsOf(correlation) };
  return { query, ...planned };
}

/** An alias of another rule would group the events of the intended one by a field that they do not have. */
function rejectUnknownAliases(
  { aliases }: CorrelationRule,
  rules: readonly { reference: string; rule: DetectionRule | CorrelationRule }[],
): void {
  const known = rules.flatMap(({ reference, rule }) => [reference, rule.id, rule.name]);
  const unknown = Object.values(aliases)
    .flatMap((byRule) => Object.keys(byRule))
    .find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UnsupportedError(`aliases has the rule ${unknown}, which is not one of the rules of the correlation`);
}
