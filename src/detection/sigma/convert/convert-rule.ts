import {
  allOf,
  listFields,
  noneOf,
  type Expression,
  type Match,
  type PatternPart,
  type TextPattern,
  type ValueTest,
} from '../../matching/expression.ts';
import type { DetectionRule, DocumentHead, Level } from '../rules/rule.ts';
import type { QueryField, RuleQuery } from '../../siem/dialects/dialect.ts';
import type { RuleMapping } from '../mappings/map-rule.ts';

const severities: Record<Level, string> = {
  informational: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  critical: 'critical',
};

/** Returns the severity of a level. A rule without one is medium. */
const severityOf = (level: Level | null): string => severities[level ?? 'medium'];

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

const any: PatternPart = { wildcard: '*' };

/**
 * Returns an expression whose tests of some fields are tests of the JSON that contains them: of `capabilities`, a key somewhere in the
 * specification of a pod, the value is what comes after the key. `isNested` tells which fields are such keys.
 */
function testNestedKeys(expression: Expression, isNested: (field: string) => boolean): Expression {
  if (expression.kind === 'not') return noneOf(testNestedKeys(expression.of, isNested));
  if (expression.kind !== 'match')
    return { ...expression, of: expression.of.map((one) => testNestedKeys(one, isNested)) };
  return expression.field !== null && isNested(expression.field) ? testKey(expression, expression.field) : expression;
}

function testKey({ test }: Match, field: string): Expression {
  const match = (one: ValueTest): Match => ({ kind: 'match', field, test: one });
  const key: TextPattern = [any, { text: `"${field}"` }, any];
  const present = match({ kind: 'text', pattern: key, cased: false });
  if (test.kind === 'exists') return test.expected ? present : noneOf(present);
  if (test.kind !== 'text') return allOf([present, match(test)]);
  const [first, last] = [test.pattern[0], test.pattern.at(-1)];
  if (test.pattern.length === 1 && first && isAny(first)) return present;
  const pattern = [
    ...key.slice(0, -1),
    ...(first && isAny(first) ? [] : [any, { text: '"' }]),
    ...test.pattern,
    ...(last && isAny(last) ? [] : [{ text: '"' }, any]),
  ];
  return match({ ...test, pattern });
}

const isAny = (part: PatternPart): boolean => 'wildcard' in part && part.wildcard === '*';
