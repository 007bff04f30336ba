import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { isSeverityAtLeast } from '../../analysis/severity.ts';
import { withoutOutsideText } from '../planted-text/outside-text.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import type { Verdict } from '../verdict.ts';

/**
 * Returns a verdict, of which a dismissal stands only if the model comes to it without the free text that outsiders control as well: text that
 * persuades a model is not always recognized. `judgeAgain` judges the candidate without that text. If it does not dismiss the candidate or cannot
 * judge it, for example because the budget is used up, the trace lists the fields as `unconfirmed`. A failure that may pass is thrown.
 */
export async function confirmDismissal(
  verdict: Verdict,
  candidate: Candidate,
  judgeAgain: (bare: Candidate) => Promise<Pick<Verdict, 'triggered'>>,
): Promise<Verdict> {
  if (!needsConfirmation(verdict, candidate)) return verdict;
  const bare = withoutOutsideText(candidate);
  if (!bare) return verdict;
  const isConfirmed = await judgeAgain(bare.candidate).then(
    ({ triggered }) => !triggered,
    (error: unknown) => {
      if (error instanceof ModelError && !error.failure.retryable && !error.pauses) return false;
      throw error;
    },
  );
  if (isConfirmed) return verdict;
  const trace = verdict.trace ?? { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions: 0 };
  return { ...verdict, trace: { ...trace, unconfirmed: bare.fields } };
}

/**
 * Returns whether a dismissal counts only if it is confirmed. Some dismissals never count: those of severe candidates and of rows with text
 * that is addressed to a model.
 */
const needsConfirmation = ({ triggered, trace }: Verdict, candidate: Candidate): boolean =>
  !triggered &&
  !isSeverityAtLeast(candidate.severity, 'high') &&
  screenCandidate(candidate).planted.length === 0 &&
  (trace?.plantedTools ?? []).length === 0;
