import { hash } from 'node:crypto';
import { severities, type Candidate, type Facts, type Severity } from './candidate.ts';
import { isAtLeast } from './severity.ts';

/** Everything that a verdict depends on besides the rows. `tools` in any order; `schema` the structured output schema as text. */
export type SuppressionScope = {
  detectionId: string;
  promptVersion: number;
  model: string;
  tools: readonly string[];
  schema: string | null;
  generation: string;
};

/** What was concluded before under the same key and is not yet too old. */
export type KnownVerdict = { positive: boolean; facts: Facts; severity: Severity };

/** Names the candidates that one verdict may stand for: same scope, entity and kind. sha256 hex. */
export function suppressionKey(scope: SuppressionScope, candidate: Candidate): string {
  const { detectionId, promptVersion, model, tools, schema, generation } = scope;
  const { entity, entityType } = candidate;
  const parts = [
    detectionId,
    promptVersion,
    model,
    [...new Set(tools)].toSorted(),
    schema,
    generation,
    entityType,
    entity,
  ];
  return hash('sha256', JSON.stringify([...parts, kindOf(candidate)]));
}

/** The kind without times and counts: the category, the techniques that the author names, and for a first occurrence what is new. */
function kindOf({ kind, facts, kindKey }: Candidate): unknown[] {
  const techniques = facts['techniques'] ?? [];
  return kind === 'first_occurrence' ? [kind, techniques, kindKey] : [kind, techniques];
}

/**
 * What a known verdict means for a new candidate: `occurrence` of the open hit, `negative` (leave it out), or `judge` it.
 * A positive stands unless the candidate is more severe than the hit was. A negative stands only while the facts are no
 * stronger (count at most twice, z at most 2 above, no new value) and never from severity high up.
 */
export function suppressionOf(
  candidate: Candidate,
  known: KnownVerdict | undefined,
): 'occurrence' | 'negative' | 'judge' {
  if (!known) return 'judge';
  if (known.positive) return isMoreSevere(candidate.severity, known.severity) ? 'judge' : 'occurrence';
  return isAtLeast(candidate.severity, 'high') || isStronger(candidate.facts, known.facts) ? 'judge' : 'negative';
}

function isStronger(facts: Facts, before: Facts): boolean {
  const values = new Set(textsOf(before, 'valueKeys'));
  return (
    numberOf(facts, 'count') > 2 * numberOf(before, 'count') ||
    numberOf(facts, 'z') > numberOf(before, 'z') + 2 ||
    textsOf(facts, 'valueKeys').some((value) => !values.has(value))
  );
}

function isMoreSevere(a: Severity, b: Severity): boolean {
  return severities.indexOf(a) > severities.indexOf(b);
}

function numberOf(facts: Facts, name: string): number {
  const value = facts[name];
  return typeof value === 'number' ? value : 0;
}

function textsOf(facts: Facts, name: string): string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.map(String) : [];
}
