import { redactDeep } from '../lib/text/redact.ts';
import { ModelError } from './model-error.ts';
import { type ModelRequest, type ModelResponse, type ModelStep, noTokens } from './model-request.ts';
import { callCostUsd, type ConfiguredModel } from './models.ts';
import type { SpendMeter } from './spend-meter.ts';

/** A model with the meter of a conversation. */
export type MeteredModel = SpendMeter & { model: ConfiguredModel };

/** `subject` and `sent` are stored with the step. `sent` has the messages that no earlier step stored. Default: all of them. */
type MeteredRequest = { kind: 'plan' | 'call'; subject: string; request: ModelRequest; sentFrom?: number };

/** A response with the model that answered: that of the alias, or one of its fallbacks. */
export type MeteredResponse = ModelResponse & { model: ConfiguredModel };

/** How long an alias that is unavailable is not called, while it has fallbacks. */
const restMs = 60_000;

/**
 * Calls a model within its budgets, and records the step with its cost. If it fails, its fallbacks are called in their order, each within
 * its own budgets. Throws the first failure of a provider if none answers, or the
 * reason of the signal.
 */
export async function callMetered(metered: MeteredModel, call: MeteredRequest): Promise<MeteredResponse> {
  const { model } = metered;
  const all = [model, ...model.fallbacks];
  const awake = all.filter(({ rest }) => rest.untilMs <= Date.now());
  let failure: ModelError | undefined;
  for (const candidate of awake.length > 0 ? awake : all) {
    try {
      return await callOnce(metered, candidate, call);
    } catch (error) {
      if (call.request.signal.aborted || !(error instanceof ModelError)) throw error;
      const isUpstream = error.failure.blame === 'upstream';
      if (candidate === model && !isUpstream) throw error;
      if (!failure || (isUpstream && failure.failure.blame !== 'upstream')) failure = error;
      if (error.pauses && model.fallbacks.length > 0) candidate.rest.untilMs = Date.now() + restMs;
    }
  }
  throw failure;
}

async function callOnce(
  { checkBudget, recordStep }: SpendMeter,
  model: ConfiguredModel,
  { kind, subject, request, sentFrom = 0 }: MeteredRequest,
): Promise<MeteredResponse> {
  const { system, messages, signal } = request;
  await checkBudget(signal, model);
  signal.throwIfAborted();
  const sent = sentFrom === 0 ? [{ role: 'system', content: system }, ...messages] : messages.slice(sentFrom);
  const { alias, name } = model;
  const step: Omit<ModelStep, 'ms' | 'tokens' | 'costUsd'> = {
    kind,
    entity: subject,
    at: new Date().toISOString(),
    alias,
    model: name,
    sent,
  };
  const startedAt = performance.now();
  const response = await model.call(request).catch(async (error: unknown) => {
    if (!signal.aborted) {
      const tokens = (error instanceof ModelError && error.tokens) || noTokens;
      const ms = Math.round(performance.now() - startedAt);
      // Recording the failed call also releases its budget reservation.
      await recordStep({ ...step, ms, tokens, costUsd: callCostUsd(model, tokens), error: String(error) });
    }
    throw error;
  });
  const { tokens, text, toolCalls, ms } = response;
  const costUsd = callCostUsd(model, tokens);
  await recordStep({ ...step, ms, tokens, costUsd, text, toolCalls: redactDeep(toolCalls) });
  return { ...response, model };
}
