import { truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { isUnusableAnswer, ModelError } from '../../../platform/models/model-error.ts';
import type { ClaimCheck } from '../claims/check-claims.ts';
import type { Conclusion } from '../verdict.ts';
import type { InvestigationTask, IsEstablished } from './task.ts';

const atOnce = 4;
const reasonMax = 300;

/**
 * Lets the verifier look at every cited fact. A fact that it supports is `supported`, and any other is `unproven`. In a dismissal it is asked more:
 * whether the cells explain the behavior as harmless. Without a verifier the claims stay as they are. A claim about which the verifier says nothing
 * usable is unproven, so that the text of one claim cannot end the judging of the others. Throws any other failure of the verifier.
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
      const { answer, reason } = await verify(check, isExcuse ? 'excuse' : 'fact', isEstablished).catch(toUnusable);
      const claim =
        answer === 'supported'
          ? { ...check.claim, status: 'supported' as const }
          : {
              ...check.claim,
              status: 'unproven' as const,
              reason: truncateText(`${describeAnswer[answer]}: ${reason}`, reasonMax),
            };
      verified[index] = { ...check, claim };
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, checks.length) }, work));
  return verified;
}

/** Planted text may make a model refuse, or answer something else. */
function toUnusable(error: unknown): { answer: 'unusable'; reason: string } {
  if (error instanceof ModelError && isUnusableAnswer(error.failure))
    return { answer: 'unusable', reason: error.message };
  throw error;
}

const describeAnswer = {
  unusable: 'the verifier gave no answer',
  contradicted: 'what it cites says otherwise',
  not_stated: 'what it cites does not say this',
};
