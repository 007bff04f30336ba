import { cutText, visibleText } from '../lib/text/canonical-text.ts';

export type ModelFailure = { kind: string; blame: 'author' | 'upstream' | 'us'; retryable: boolean; message: string };

/** A model that could not give a verdict; in a run it becomes the run's failure. `pauses`: no other run need try the alias now. */
export class ModelError extends Error {
  readonly failure: ModelFailure;
  readonly pauses: boolean;
  constructor(failure: ModelFailure, pauses = false) {
    super(failure.message);
    this.failure = failure;
    this.pauses = pauses;
  }
}

export function upstreamError(kind: string, message: string, is: { retryable: boolean; pauses: boolean }): ModelError {
  return new ModelError({ kind, blame: 'upstream', retryable: is.retryable, message }, is.pauses);
}

export const budgetExceeded = (message: string): ModelError =>
  new ModelError({ kind: 'budget_exceeded', blame: 'us', retryable: false, message });

export const modelRefused = (name: string): ModelError =>
  upstreamError('model_refused', `${name} refused to answer.`, { retryable: false, pauses: false });

export const invalidVerdict = (name: string, problem: string): ModelError =>
  upstreamError(
    'invalid_verdict',
    `${name} gave no valid verdict, asked twice: ${cutText(visibleText(problem), 500)}`,
    {
      retryable: false,
      pauses: false,
    },
  );

export const invalidDraft = (name: string, problem: string): ModelError =>
  upstreamError(
    'invalid_draft',
    `${name} wrote nothing that runs, asked twice: ${cutText(visibleText(problem), 500)}`,
    {
      retryable: false,
      pauses: false,
    },
  );

/** What a detection's author has to change before its model can judge anything. */
export const authorError = (kind: string, message: string): ModelError =>
  new ModelError({ kind, blame: 'author', retryable: false, message });
