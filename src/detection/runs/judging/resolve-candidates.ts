import { compileExceptions, type Exception } from '../../analysis/exceptions.ts';
import { computeSuppressionKey, decideSuppression } from '../../analysis/suppression.ts';
import { createHitKey } from '../../hits/hit-key.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { DetectionTexts } from '../../verdicts/detection-texts.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { verifyVerdict, type VerifiedVerdict } from '../../verdicts/verification/verify-verdict.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import type { StoredCandidate, Suppression } from './candidates.store.ts';

/**
 * The outcome of a candidate. `hitKey` is the key of the hit that it creates or joins, `hitId` the hit of an earlier run that
 * it joins. `judged` is false if no judge was available in time, so the verdict comes from the facts.
 */
export type Resolution =
  | { candidate: StoredCandidate; outcome: 'occurrence'; hitId: string | null; hitKey: string | null }
  | { candidate: StoredCandidate; outcome: 'negative' }
  | { candidate: StoredCandidate; outcome: 'excepted'; by: Exception['kind']; exceptionId: string }
  | JudgedResolution;

export type JudgedResolution = {
  candidate: StoredCandidate;
  outcome: 'judged';
  unverified: Verdict;
  verified: VerifiedVerdict;
  judged: boolean;
  hitKey: string;
  suppression: NewSuppression | null;
};

/** `hitKey` identifies a hit of the same batch, which has no ID before it is stored. */
export type NewSuppression = Suppression & { hitKey?: string | null };

/** A candidate that waits longer than this for a verdict becomes a hit from its facts, so that no event is lost to an outage. */
export const verdictWaitMaxMs = 24 * 3_600_000;

/**
 * The settings that a verdict must share with a later candidate to suppress it, and the texts of the detection, from the run that
 * found the candidate.
 */
export type JudgingScope = Pick<ActiveRun, 'detectionId' | 'trigger' | 'model'> & {
  definition: DetectionTexts &
    Pick<ActiveRun['definition'], 'suppressionMinutes' | 'promptVersion' | 'toolNames' | 'structuredOutputSchema'>;
  customInstructions?: string | null;
};

export type ResolutionContext = {
  getScope: (candidate: StoredCandidate) => JudgingScope;
  /** Stored suppressions by key. */
  known: Map<string, Suppression>;
  /** The exceptions and snoozes that are active at `now`. */
  exceptions: readonly Exception[];
  now: Date;
  getVerdict: (candidate: StoredCandidate) => Promise<Verdict>;
};

/** Resolves candidates in order. A verdict suppresses later candidates of the same batch too. */
export async function resolveCandidates(
  candidates: StoredCandidate[],
  context: ResolutionContext,
): Promise<Resolution[]> {
  const suppressions = new Map<string, NewSuppression>(context.known);
  const resolutions: Resolution[] = [];
  const findException = compileExceptions(context.exceptions);
  for (const candidate of candidates) {
    const exception = findException(candidate);
    if (exception) {
      resolutions.push({ candidate, outcome: 'excepted', by: exception.kind, exceptionId: exception.id });
      continue;
    }
    const key = findSuppressionKey(context.getScope(candidate), candidate);
    const known = key === null ? undefined : findValid(candidate, suppressions.get(key));
    const suppressedAs = decideSuppression(candidate, known);
    if (suppressedAs === 'negative') resolutions.push({ candidate, outcome: 'negative' });
    else if (suppressedAs === 'occurrence') {
      const { hitId = null, hitKey = null } = known ?? {};
      resolutions.push({ candidate, outcome: 'occurrence', hitId, hitKey });
    } else {
      const resolution = await judgeCandidate(candidate, context, key);
      if (resolution.suppression) suppressions.set(resolution.suppression.key, resolution.suppression);
      resolutions.push(resolution);
    }
  }
  return resolutions;
}

/** Returns null if nothing is suppressed: the detection disables suppression, or the run is manual. */
export function findSuppressionKey(scope: JudgingScope, candidate: StoredCandidate): string | null {
  const { detectionId, trigger, model, definition } = scope;
  if (definition.suppressionMinutes === 0 || trigger === 'manual') return null;
  return computeSuppressionKey(
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

function findValid(candidate: StoredCandidate, known: NewSuppression | undefined): NewSuppression | undefined {
  return known && candidate.windowTo >= known.sinceAt && candidate.windowTo < known.untilAt ? known : undefined;
}

async function judgeCandidate(
  candidate: StoredCandidate,
  context: ResolutionContext,
  key: string | null,
): Promise<JudgedResolution> {
  const { detectionId, definition, customInstructions = null } = context.getScope(candidate);
  const isOverdue = !candidate.verdict && candidate.createdAt.getTime() < context.now.getTime() - verdictWaitMaxMs;
  const unverified = isOverdue
    ? createAnalystVerdict(candidate, definition)
    : (candidate.verdict ?? (await context.getVerdict(candidate)));
  const verified = verifyVerdict(unverified, candidate, { ...definition, customInstructions });
  const hitKey = createHitKey(detectionId, candidate.entityType, candidate.entity, candidate.kindKey);
  const suppression: NewSuppression | null =
    key === null
      ? null
      : {
          key,
          positive: verified.triggered,
          facts: candidate.facts,
          severity: candidate.severity,
          hitId: null,
          hitKey: verified.triggered ? hitKey : null,
          sinceAt: candidate.windowTo,
          untilAt: new Date(candidate.windowTo.getTime() + definition.suppressionMinutes * 60_000),
        };
  return { candidate, outcome: 'judged', unverified, verified, judged: !isOverdue, hitKey, suppression };
}
