import { truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { isBudgetExceeded, isUnusableAnswer, ModelError } from '../../../platform/models/model-error.ts';
import type { ClaimCheck } from '../claims/check-claims.ts';
import type { Conclusion } from '../verdict.ts';
import type { InvestigationTask, IsEstablished } from './task.ts';

const atOnce = 4;
const reasonMax = 300;

/**
 * Lets the verifier look at every cited fact. A fact that it supports is `supported`, and any other is `unproven`. In a dismissal it is asked more:
 * whether the cells explain the behavior as harmless. Without a verifier the claims stay as they are. A claim about which the verifier says nothing
 * usable is unproven, so that the text of one claim cannot end the judging of the others. A claim that exceeds the budget of the verifier stays cited, with
 * the reason, so that the verdict is not lost. Throws any other failure of the verifier.
 */
export async function verifyClaims(
  { verify }: Pick<InvestigationTask, 'verify'>,
  checks: readonly ClaimCheck[],
  conclusion: Conclusion,
  isEstablished: IsEstablished = () => false,
): Promise<ClaimCheck[]> {
  if (!verify) return [...checks];
  const verified = [...checks];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < checks.length; index = next++) {
      const check = checks[index]!;
      if (check.claim.status !== 'cited') continue;
      const isExcuse = conclusion === 'dismiss' && check.cells.every(({ proof }) => proof !== 'none');
      const { answer, reason } = await verify(check, isExcuse ? 'excuse' : 'fact', isEstablished).catch(toNoAnswer);
      const { status, meaning } = outcomes[answer];
      const claim = { status, reason: meaning === null ? null : truncateText(`${meaning}: ${reason}`, reasonMax) };
      verified[index] = { ...check, claim: { ...check.claim, ...claim } };
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, checks.length) }, work));
  return verified;
}

/** Planted text may make a model refuse, or answer something else. */
function toNoAnswer(error: unknown): { answer: 'unusable' | 'unverified'; reason: string } {
  if (error instanceof ModelError && isUnusableAnswer(error.failure))
    return { answer: 'unusable', reason: error.message };
  if (error instanceof ModelError && isBudgetExceeded(error)) return { answer: 'unverified', reason: error.message };
  throw error;
}

const outcomes = {
  supported: { status: 'supported', meaning: null },
  unverified: { status: 'cited', meaning: 'not verified' },
  unusable: { status: 'unproven', meaning: 'the verifier gave no answer' },
  contradicted: { status: 'unproven', meaning: 'what it cites says otherwise' },
  not_stated: { status: 'unproven', meaning: 'what it cites does not say this' },
} as const;
