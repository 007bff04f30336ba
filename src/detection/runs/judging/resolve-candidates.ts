import { analystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { verifyVerdict, type Verified } from '../../verdicts/verification/verify-verdict.ts';
import { exceptionFor, type Exception } from '../../analysis/exceptions.ts';
import { suppressionKey, suppressionOf } from '../../analysis/suppression.ts';
import { hitKey } from '../../hits/hit-key.ts';
import type { StoredCandidate, Suppression } from './candidates.store.ts';
import type { Run } from '../run-types.ts';

/** What becomes of a candidate. `hitKey` names the hit that it makes or joins, `hitId` one that an earlier run made. */
export type Decision =
  | { candidate: StoredCandidate; outcome: 'occurrence'; hitId: string | null; hitKey: string | null }
  | { candidate: StoredCandidate; outcome: 'negative' }
  | { candidate: StoredCandidate; outcome: 'excepted'; by: Exception['kind'] }
  | {
      candidate: StoredCandidate;
      outcome: 'judged';
      verified: Verified;
      given: Verdict;
      judged: boolean;
      hitKey: string;
      suppression: Pending | null;
    };

/** `hitKey`: of a hit of this batch, whose id is known only once it is stored. */
export type Pending = Suppression & { hitKey?: string | null };

/** Without a verdict for this long, a candidate becomes a hit from its facts: no event is lost to an outage. */
export const waitMaxMs = 24 * 3_600_000;

/** What a verdict may stand for later candidates by: of the run that judges, or of the one that found what nobody came to judge. */
export type Scope = Pick<Run, 'detectionId' | 'trigger' | 'model'> & {
  definition: Pick<Run['definition'], 'suppressionMinutes' | 'promptVersion' | 'toolNames' | 'structuredOutputSchema'>;
};

export type Deciding = {
  scopeOf: (candidate: StoredCandidate) => Scope;
  known: Map<string, Suppression>;
  /** What people do not want to hear of at `now`. */
  exceptions: readonly Exception[];
  now: Date;
  verdictOf: (candidate: StoredCandidate) => Promise<StoredCandidate['verdict'] & object>;
};

/** Decides candidates in order; a verdict of this batch counts for the candidates after it. */
export async function decide(candidates: StoredCandidate[], deciding: Deciding): Promise<Decision[]> {
  const fresh = new Map<string, Pending>();
  const decisions: Decision[] = [];
  for (const candidate of candidates) {
    const exception = exceptionFor(candidate, deciding.exceptions);
    if (exception) {
      decisions.push({ candidate, outcome: 'excepted', by: exception.kind });
      continue;
    }
    const key = keyOf(deciding.scopeOf(candidate), candidate);
    const known = key === null ? undefined : standing(candidate, fresh.get(key) ?? deciding.known.get(key));
    const meaning = suppressionOf(candidate, known);
    if (meaning === 'negative') decisions.push({ candidate, outcome: 'negative' });
    else if (meaning === 'occurrence') {
      decisions.push({ candidate, outcome: 'occurrence', hitId: known?.hitId ?? null, hitKey: known?.hitKey ?? null });
    } else {
      const decision = await judgeOne(candidate, deciding, key);
      if (decision.suppression) fresh.set(decision.suppression.key, decision.suppression);
      decisions.push(decision);
    }
  }
  return decisions;
}

/** The suppression key; null where nothing is suppressed: switched off, or a person asked for this run. */
export function keyOf({ detectionId, trigger, model, definition }: Scope, candidate: StoredCandidate): string | null {
  if (definition.suppressionMinutes === 0 || trigger === 'manual') return null;
  return suppressionKey(
    {
      detectionId,
      promptVersion: definition.promptVersion,
      model,
      tools: definition.toolNames,
      schema: definition.structuredOutputSchema === null ? null : JSON.stringify(definition.structuredOutputSchema),
      generation: candidate.generation,
    },
    candidate,
  );
}

function standing(candidate: StoredCandidate, known: Pending | undefined): Pending | undefined {
  return known && candidate.windowTo >= known.sinceAt && candidate.windowTo < known.untilAt ? known : undefined;
}

async function judgeOne(
  candidate: StoredCandidate,
  deciding: Deciding,
  key: string | null,
): Promise<Decision & { outcome: 'judged' }> {
  const scope = deciding.scopeOf(candidate);
  const overdue = !candidate.verdict && candidate.createdAt.getTime() < deciding.now.getTime() - waitMaxMs;
  const verdict = overdue ? analystVerdict(candidate) : (candidate.verdict ?? (await deciding.verdictOf(candidate)));
  const verified = verifyVerdict(verdict, candidate);
  const own = hitKey(scope.detectionId, candidate.entityType, candidate.entity, candidate.kindKey);
  const suppression = key === null ? null : suppressionFrom(candidate, { scope, key, verified, own });
  return { candidate, outcome: 'judged', verified, given: verdict, judged: !overdue, hitKey: own, suppression };
}

function suppressionFrom(
  candidate: StoredCandidate,
  from: { scope: Scope; key: string; verified: Verified; own: string },
): Pending {
  const { triggered } = from.verified;
  return {
    key: from.key,
    positive: triggered,
    facts: candidate.facts,
    severity: candidate.severity,
    hitId: null,
    hitKey: triggered ? from.own : null,
    sinceAt: candidate.windowTo,
    untilAt: new Date(candidate.windowTo.getTime() + from.scope.definition.suppressionMinutes * 60_000),
  };
}
