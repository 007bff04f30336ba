import type { Candidate, Facts } from '../../analysis/candidate.ts';

/** How sure the facts alone make one, 0-100. The rules stand in docs/reference/analysis.md. */
export function confidenceOf({ kind, facts }: Candidate): number {
  const rules = {
    baseline_anomaly: () =>
      45 + Math.min(40, 4 * (numberOf(facts, 'z') - 3.5)) + (facts['enoughPast'] === true ? 5 : -15),
    first_occurrence: () =>
      50 +
      Math.min(20, numberOf(facts, 'entityWindows')) +
      (facts['otherEntities'] === 0 ? 15 : 0) -
      (facts['enoughPast'] === true ? 0 : 20),
    sequence_pattern: () => 50 + 10 * numberOf(facts, 'steps'),
    privilege_escalation: () => 70,
    custom: () => 60,
  };
  const given = facts['authorSeverity'] === undefined ? 0 : 5;
  return Math.round(Math.min(95, Math.max(10, rules[kind]() + given)));
}

function numberOf(facts: Facts, name: string): number {
  const value = facts[name];
  return typeof value === 'number' ? value : 0;
}
