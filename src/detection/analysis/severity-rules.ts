import { compilePattern, findValue, hasAllRows, type ListTest } from './exceptions.ts';
import { severities, type Candidate, type RenderedRow, type Severity } from './candidate.ts';
import { isHiddenField, type HiddenData } from '../siem/hidden-data.ts';
import type { SeverityRule, Tuning } from './tuning.schema.ts';

/** Returns the names of the value lists that the severity rules of a tuning specify. */
export const listRuleLists = (tuning: Tuning | undefined): string[] => [
  ...new Set((tuning?.severityRules ?? []).flatMap(({ list }) => list ?? [])),
];

/**
 * Returns a function that applies the first matching rule to a candidate and stores as facts which it was, the severity before, and the row and field
 * behind it. A rule that lowers the severity matches only if all rows behind the candidate do, so that it never hides other activity. Any other
 * matches if one row does. `lists` are the value lists that exist.
 */
export function compileSeverityRules(
  rules: readonly SeverityRule[],
  lists: ReadonlyMap<string, ListTest>,
): (candidate: Candidate) => Candidate {
  const compiled = rules.map((rule) => {
    const matches = rule.list === undefined ? compilePattern(rule.value ?? '') : lists.get(rule.list);
    return {
      rule,
      matchesRow: ({ fields }: RenderedRow) => {
        const value = findValue(fields, rule.field);
        return value !== undefined && matches?.(value) === true;
      },
    };
  });
  return (candidate) => {
    const before = severities.indexOf(candidate.severity);
    for (const { rule, matchesRow } of compiled) {
      const row = candidate.rows.find(matchesRow);
      if (!row) continue;
      const severity = changeSeverity(candidate.severity, rule.severity);
      const isLower = severities.indexOf(severity) < before;
      if (isLower && !(hasAllRows(candidate) && candidate.rows.every(matchesRow))) continue;
      const facts = {
        severityRule: describeRule(rule),
        severityBefore: candidate.severity,
        severityCell: [row.rowId, rule.field],
      };
      return { ...candidate, severity, facts: { ...candidate.facts, ...facts } };
    }
    return candidate;
  };
}

function changeSeverity(severity: Severity, change: SeverityRule['severity']): Severity {
  if (change !== 'raise' && change !== 'lower') return change;
  const index = severities.indexOf(severity) + (change === 'raise' ? 1 : -1);
  return severities[Math.min(Math.max(index, 0), severities.length - 1)]!;
}

const describeRule = ({ field, value, list, severity }: SeverityRule): string =>
  `${field} ${list === undefined ? `= ${value}` : `in lists.${list}`}: ${describeChange(severity)}`;

const describeChange = (change: SeverityRule['severity']): string =>
  change === 'raise' ? 'one level up' : change === 'lower' ? 'one level down' : change;

/** Returns a candidate without the rule that was applied to it, if the field of the rule is one that models may not see. */
export function withoutHiddenRule(candidate: Candidate, hidden: HiddenData): Candidate {
  const { severityRule: _rule, severityBefore: _before, severityCell: cell, ...facts } = candidate.facts;
  return Array.isArray(cell) && isHiddenField(String(cell[1]), hidden) ? { ...candidate, facts } : candidate;
}

/** Returns the cell behind the severity rule that was applied to a candidate, and what the rule did. Returns undefined without one. */
export function findRuleCell({ severity, facts, rows }: Pick<Candidate, 'severity' | 'facts' | 'rows'>) {
  const { severityRule: rule, severityBefore: before, severityCell: cell } = facts;
  if (typeof rule !== 'string' || !Array.isArray(cell)) return undefined;
  const [rowId, field] = cell.map(String) as [string, string];
  const value = findValue(rows.find((row) => row.rowId === rowId)?.fields ?? {}, field);
  const effect = severity === before ? `keeps it ${severity}` : `makes it ${severity} instead of ${String(before)}`;
  const why = `The severity rule “${rule}” ${effect}.`;
  return value === undefined ? undefined : { observation: 'rows', rowId, field, value, why };
}
