import { truncateText } from '../../../platform/lib/text/canonical-text.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { selectEvidence } from '../analyst/evidence.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import type { Verdict, VerdictEvidence } from '../verdict.ts';
import { verifyVerdict } from '../verification/verify-verdict.ts';

const offeredMax = 20;
const valueCharsMax = 500;

type Citation = Omit<VerdictEvidence, 'why'>;

/** The reason why no evidence of a triggered verdict counts, and the evidence that the model can cite instead. */
export type EvidenceProblem = { failed: string[]; citable: Citation[] };

/** Returns the problem of a triggered verdict if none of its evidence is in the rows. Returns undefined if some of it counts. */
export function findEvidenceProblem(
  verdict: Verdict,
  candidate: Candidate,
  detection: DetectionTexts,
): EvidenceProblem | undefined {
  // The verdict on a candidate with planted text follows from its facts.
  if (!verdict.triggered || screenCandidate(candidate).planted.length > 0) return undefined;
  const struck = verifyVerdict(verdict, candidate, detection).struck.filter(({ where }) => where === 'evidence');
  // Evidence beyond the maximum is ignored, not struck.
  const checked = Math.min(verdict.evidence.length, offeredMax);
  if (struck.length < checked) return undefined;
  return {
    failed: struck.map(({ text, reason }) => `${truncateText(text, 300)}: ${reason}`),
    citable: selectEvidence(candidate, offeredMax).flatMap(toCitation),
  };
}

/** Returns the evidence with its value, or with the first whole words of a long value. */
function toCitation({ rowId, field, value }: VerdictEvidence): Citation[] {
  const quoted = value.length <= valueCharsMax ? value : value.slice(0, valueCharsMax).replace(/\S*$/, '').trim();
  return quoted === '' ? [] : [{ rowId, field, value: quoted }];
}

/** Returns the message that asks the model for evidence that is in the rows. `wrap` marks values from the rows as data. */
export function describeEvidenceProblem(
  { failed, citable }: EvidenceProblem,
  wrap: (value: unknown) => string,
  tool: string,
): string {
  return [
    'None of the evidence of this triggered verdict is in the rows.',
    failed.length === 0 ? 'It cites nothing.' : `These citations failed, with the reason:\n${wrap(failed)}`,
    `You can cite these, with the values copied exactly:\n${wrap(citable)}`,
    `Call ${tool} once more with the complete verdict and evidence that is in the rows.`,
  ].join('\n');
}
