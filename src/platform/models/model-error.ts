import type { TokenUsage } from './model-request.ts';
import { truncateText, escapeInvisible } from '../lib/text/canonical-text.ts';

export type ModelFailure = {
  kind: string;
  blame: 'author' | 'upstream' | 'service';
  retryable: boolean;
  message: string;
};

/**
 * A failure of a model or of its use. In a run it becomes the run's failure. `pauses` pauses the alias for other runs. `tokens` are those of
 * a call that failed after the model had written.
 */
export class ModelError extends Error {
  readonly failure: ModelFailure;
  readonly pauses: boolean;
  tokens?: TokenUsage;
  constructor(failure: ModelFailure, pauses = false) {
    super(failure.message);
    this.failure = failure;
    this.pauses = pauses;
  }
}

const permanent = { retryable: false, pauses: false };

export function upstreamModelError(
  kind: string,
  message: string,
  { retryable, pauses }: { retryable: boolean; pauses: boolean },
): ModelError {
  return new ModelError({ kind, blame: 'upstream', retryable, message }, pauses);
}

export const budgetExceededError = (message: string): ModelError =>
  new ModelError({ kind: 'budget_exceeded', blame: 'service', retryable: false, message });

export const tooManyStepsError = (stepsMax: number): ModelError =>
  new ModelError({
    kind: 'too_many_steps',
    blame: 'upstream',
    retryable: false,
    message: `The model gave no verdict within the budget of ${stepsMax} steps per entity.`,
  });

export const modelRefusedError = (name: string): ModelError =>
  upstreamModelError('model_refused', `${name} refused to answer.`, permanent);

export const invalidVerdictError = (name: string, problem: string): ModelError =>
  invalidAnswerError('invalid_verdict', `${name} returned no valid verdict`, problem);

export const invalidDraftError = (name: string, problem: string): ModelError =>
  invalidAnswerError('invalid_draft', `${name} returned no usable draft`, problem);

const invalidAnswerError = (kind: string, summary: string, problem: string): ModelError =>
  upstreamModelError(kind, `${summary} in two attempts: ${truncateText(escapeInvisible(problem), 500)}`, permanent);

export const isBudgetExceeded = (error: unknown): boolean =>
  error instanceof ModelError && error.failure.kind === 'budget_exceeded';

const unusable = new Set(['invalid_verdict', 'invalid_draft', 'model_refused', 'model_bad_request', 'too_many_steps']);

/** Returns whether a failure concerns one question alone: the model can answer others, but would fail again on this one. */
export const isUnusableAnswer = ({ kind }: Pick<ModelFailure, 'kind'>): boolean => unusable.has(kind);

/** Returns an error that the author of the detection has to fix. */
export const modelAuthorError = (kind: string, message: string): ModelError =>
  new ModelError({ kind, blame: 'author', retryable: false, message });
