import { allOf, listFields } from '../../matching/expression.ts';
import type { DetectionRule, DocumentHead, Level } from '../model/rule.ts';
import type { QueryField, RuleQuery } from '../dialects/dialect.ts';
import type { RuleMapping } from '../mappings/map-rule.ts';
import { testNestedKeys } from '../mappings/nested-keys.ts';

const severities: Record<Level, string> = {
  informational: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  critical: 'critical',
};

/** Returns the severity of a level. A rule without one is medium. */
export const severityOf = (level: Level | null): string => severities[level ?? 'medium'];

/** Returns the ATT&CK techniques of a rule's tags, such as T1059.001. */
export function techniquesOf(tags: readonly string[]): string[] {
  const ids = tags.map((tag) => /^attack\.(t\d{4}(?:\.\d{3})?)$/i.exec(tag)?.[1]?.toUpperCase());
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** Returns the columns that every row of a rule gets. */
export function constantsOf({ level, tags }: Pick<DocumentHead, 'level' | 'tags'>): Record<string, string> {
  const [technique] = techniquesOf(tags);
  return { severity: severityOf(level), ...(technique ? { technique } : {}) };
}

/** Returns what a rule reads and tests in the logs. */
export function toRuleQuery(rule: DetectionRule, mapping: RuleMapping, time: string): RuleQuery {
  const condition = testNestedKeys(rule.condition, mapping.isNested);
  const where = mapping.where ? allOf([mapping.where, condition]) : condition;
  const used = listFields(where).filter((field) => field !== null);
  const inRule = listFields(rule.condition).filter((field) => field !== null);
  const columns = distinctNames([...mapping.entity, ...inRule, ...rule.fields]);
  return {
    table: mapping.table,
    time,
    fields: distinctNames([...columns, ...used]).map((name): QueryField => ({ name, names: mapping.names(name) })),
    columns,
    constants: constantsOf(rule),
    where,
  };
}

/** Returns names without repeats. Only names that are the same in every letter are repeats. */
const distinctNames = (names: readonly string[]): string[] => [...new Set(names)];
