import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate, Severity } from '../../analysis/candidate.ts';
import { findMaxSeverity, isSeverityAtLeast } from '../../analysis/severity.ts';
import { withoutOutsideText } from '../planted-text/outside-text.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import type { Verdict } from '../verdict.ts';

type Judged = Pick<Verdict, 'triggered' | 'severity'>;

/**
 * Returns a verdict, of which a dismissal or a severity below that of the facts stands only if the model comes to it without what outsiders
 * wrote as well: text that persuades a model is not always recognized. `judgeAgain` judges the candidate without its free text, without context
 * from outside and without tools that return such text. If it disagrees or cannot judge the candidate, for example because the budget is used up,
 * the trace lists what the verdict depends on as `unconfirmed`. A failure that may pass is thrown.
 */
export async function confirmVerdict(
  verdict: Verdict,
  candidate: Candidate,
  judgeAgain: (bare: Candidate) => Promise<Judged>,
): Promise<Verdict> {
  if (!needsConfirmation(verdict, candidate)) return verdict;
  const bare = withoutOutsideText(candidate);
  const context = verdict.trace?.outside ?? [];
  if (!bare && context.length === 0) return verdict;
  const again = await judgeAgain(bare?.candidate ?? candidate).catch((error: unknown) => {
    if (error instanceof ModelError && !error.failure.retryable && !error.pauses) return undefined;
    throw error;
  });
  if (again && isBelowFacts(again, candidate) && (verdict.triggered || !again.triggered))
    return { ...verdict, severity: again.triggered ? highest(verdict.severity, again.severity) : verdict.severity };
  const trace = verdict.trace ?? { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions: 0 };
  return { ...verdict, trace: { ...trace, unconfirmed: { fields: bare?.fields ?? [], context } } };
}

const highest = (a: Severity, b: Severity): Severity => findMaxSeverity([a, b])!;

const isBelowFacts = ({ triggered, severity }: Judged, candidate: Candidate): boolean =>
  !triggered || !isSeverityAtLeast(severity, candidate.severity);

/**
 * Returns whether a verdict counts only if it is confirmed: one that is milder than the facts. Some such verdicts never count: those on severe
 * candidates and on rows with text that is addressed to a model.
 */
const needsConfirmation = (verdict: Verdict, candidate: Candidate): boolean =>
  isBelowFacts(verdict, candidate) &&
  !isSeverityAtLeast(candidate.severity, 'high') &&
  screenCandidate(candidate).planted.length === 0 &&
  (verdict.trace?.plantedTools ?? []).length === 0;
