import { allOf } from '../../matching/expression.ts';
import type {
  CorrelationRule,
  DetectionRule,
  FilterRule,
  InvalidDocument,
  LogSource,
  SigmaRule,
} from '../rules/rule.ts';

/** Documents with the filters applied to their rules. `partOf` are rules that only a correlation rule uses. */
export type RuleCollection = {
  documents: (SigmaRule | InvalidDocument)[];
  filtered: ReadonlyMap<FilterRule, number>;
  partOf: ReadonlyMap<SigmaRule, CorrelationRule>;
  findRule: (reference: string) => DetectionRule | CorrelationRule | undefined;
};

/** Applies filters, resolves references and marks documents whose id another document has as invalid. */
export function collectRules(documents: readonly (SigmaRule | InvalidDocument)[]): RuleCollection {
  const unique = markRepeatedIds(documents);
  const filters = unique.filter((one) => one.kind === 'filter');
  const filtered = new Map(filters.map((filter) => [filter, 0]));
  const applied = unique.map((document) => {
    if (document.kind !== 'rule') return document;
    const matching = filters.filter((filter) => isFiltered(document, filter));
    for (const filter of matching) filtered.set(filter, filtered.get(filter)! + 1);
    if (matching.length === 0) return document;
    return { ...document, condition: allOf([document.condition, ...matching.map(({ condition }) => condition)]) };
  });
  const byReference = new Map<string, DetectionRule | CorrelationRule>();
  for (const document of applied) {
    if (document.kind !== 'rule' && document.kind !== 'correlation') continue;
    for (const reference of [document.name, document.id]) if (reference !== null) byReference.set(reference, document);
  }
  const partOf = new Map<SigmaRule, CorrelationRule>();
  for (const document of applied) {
    if (document.kind !== 'correlation' || document.generate) continue;
    for (const reference of document.rules) {
      const rule = byReference.get(reference);
      if (rule) partOf.set(rule, document);
    }
  }
  return { documents: applied, filtered, partOf, findRule: (reference) => byReference.get(reference) };
}

function markRepeatedIds(documents: readonly (SigmaRule | InvalidDocument)[]): (SigmaRule | InvalidDocument)[] {
  const lines = new Map<string, number>();
  return documents.map((document) => {
    if (document.kind === 'invalid' || document.id === null) return document;
    const { id, title, line } = document;
    const first = lines.get(id);
    if (first === undefined) {
      lines.set(id, line);
      return document;
    }
    return {
      kind: 'invalid',
      id,
      title,
      errors: [{ line, message: `id ${id} is already used by the document on line ${first}` }],
    };
  });
}

function isFiltered(rule: DetectionRule, { rules, logSource }: FilterRule): boolean {
  if (rules && !rules.some((reference) => reference === rule.id || reference === rule.name)) return false;
  return Object.entries(logSource).every(([key, value]) => rule.logSource[key as keyof LogSource] === value);
}
