import { hash } from 'node:crypto';
import { type Candidate, type Facts, isSeverityAtLeast, severities, type Severity } from './candidate.ts';
import { getCategory } from './registry.ts';
import { numberOf, readList } from './wording.ts';

/** Everything that a verdict depends on besides the rows. `tools` in any order. `schema` is the structured output schema as text. */
export type SuppressionScope = {
  detectionId: string;
  promptVersion: number;
  model: string;
  tools: readonly string[];
  schema: string | null;
  generation: string;
};

/** An earlier verdict with the same key that has not expired. */
export type KnownVerdict = { positive: boolean; facts: Facts; severity: Severity };

/** Returns the SHA-256 (hex) of scope, entity and kind. Candidates with the same key can share a verdict. */
export function computeSuppressionKey(scope: SuppressionScope, candidate: Candidate): string {
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
  return hash('sha256', JSON.stringify([...parts, buildKind(candidate)]));
}

/** Returns the kind without times and counts: the category, the author's techniques, and the kind key if verdicts are shared by it. */
function buildKind({ kind, facts, kindKey }: Candidate): unknown[] {
  const techniques = facts['techniques'] ?? [];
  return getCategory(kind).judgesEachKind ? [kind, techniques, kindKey] : [kind, techniques];
}

/**
 * Returns how an earlier verdict applies to a candidate: `occurrence` of the open hit, `negative` (drop it), or `judge` it again.
 * A positive verdict applies unless the candidate is more severe than the hit. A negative verdict applies below severity high if the
 * facts are not stronger: at most twice the count, z at most 2 higher, and no new value.
 */
export function decideSuppression(
  candidate: Candidate,
  known: KnownVerdict | undefined,
): 'occurrence' | 'negative' | 'judge' {
  if (!known) return 'judge';
  if (known.positive) return isMoreSevere(candidate.severity, known.severity) ? 'judge' : 'occurrence';
  return isSeverityAtLeast(candidate.severity, 'high') || isStronger(candidate.facts, known.facts)
    ? 'judge'
    : 'negative';
}

function isStronger(facts: Facts, before: Facts): boolean {
  const values = new Set(readList(before, 'valueKeys'));
  return (
    numberOf(facts, 'count') > 2 * numberOf(before, 'count') ||
    numberOf(facts, 'z') > numberOf(before, 'z') + 2 ||
    readList(facts, 'valueKeys').some((value) => !values.has(value))
  );
}

function isMoreSevere(a: Severity, b: Severity): boolean {
  return severities.indexOf(a) > severities.indexOf(b);
}
