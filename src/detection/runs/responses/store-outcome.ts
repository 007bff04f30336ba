import type { Tx } from '../../../platform/db/db.ts';
import { addAgentComment } from '../../hits/hit-comments.ts';
import { lockHit } from '../../hits/hit-status.store.ts';
import type { InvestigationTrace } from '../../verdicts/investigation/investigate.ts';
import { isUnverified, type Conclusion, type Verdict } from '../../verdicts/verdict.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { storeProposal } from './agent-calls.ts';

/** The status that a proven conclusion speaks for. An undecided case keeps its status. */
const statusOf = { raise: 'true_positive', dismiss: 'benign', undecided: null } as const satisfies Record<
  Conclusion,
  string | null
>;

/**
 * Writes what a response found to its hit, in the transaction that ends the run: a comment of the checked claims, and a proposed status if the case is
 * decided and nobody has decided it yet. It sets no status.
 */
export async function storeOutcome(
  tx: Tx,
  run: ActiveRun,
  { verdict, trace }: { verdict: Verdict; trace: InvestigationTrace | null },
  now: Date,
): Promise<void> {
  const { orgId, id: runId, detectionId: agentId } = run;
  const hitId = run.event?.hitId ?? null;
  const hit = hitId === null ? undefined : await lockHit(tx, orgId, hitId);
  if (hitId === null || !hit) return;
  await addAgentComment(tx, { orgId, hitId, agentId, runId }, renderComment(verdict, trace), now);
  const status = statusOf[verdict.verdict];
  if (status === null || hit.status !== 'open' || run.definition.mode === 'sandbox') return;
  const reason = verdict.summary;
  await storeProposal(
    tx,
    run,
    { tool: 'set_hit_status', input: { status, reason: reason.slice(0, 2_000) }, reason },
    now,
  );
}

const commentMax = 8_000;

/** Renders what an investigation proved, assumes, could not prove and could not find out. */
function renderComment(
  { headline, claims, openQuestion, nextStep }: Verdict,
  trace: InvestigationTrace | null,
): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`${title}\n${lines.map((line) => `- ${line}`).join('\n')}`];
  const texts = (...statuses: string[]) =>
    claims.filter((claim) => statuses.includes(isUnverified(claim) ? 'unverified' : claim.status));
  const open = trace?.questions.filter(({ observation }) => observation === null) ?? [];
  return [
    headline,
    ...list(
      'Found:',
      texts('supported', 'cited').map(({ text }) => text),
    ),
    ...list(
      'Cited, but not verified:',
      texts('unverified').map(({ text }) => text),
    ),
    ...list(
      'Assessment:',
      texts('assessment').map(({ text }) => text),
    ),
    ...list(
      'Not proven:',
      texts('unproven').map(({ text, reason }) => `${text} (${reason})`),
    ),
    ...list(
      'Could not find out:',
      open.map(({ question }) => question),
    ),
    ...(openQuestion === null ? [] : [`Open question: ${openQuestion}`]),
    ...(nextStep === '' || nextStep === openQuestion ? [] : [`Next: ${nextStep}`]),
  ]
    .join('\n\n')
    .slice(0, commentMax);
}
