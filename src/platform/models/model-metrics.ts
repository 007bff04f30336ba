import { SpanKind } from '@opentelemetry/api';
import { Counter, Histogram, type Registry } from 'prom-client';
import { ModelError } from './model-error.ts';
import { inSpan } from '../lib/logging/spans.ts';
import type { ModelCall } from './model-request.ts';
import { callCostUsd, type ConfiguredModel, type Models, withFallbacks } from './models.ts';

/** Returns the same models, whose calls are measured by alias and recorded in traces. Call it once per registry. */
export function measureModels(models: Models, registry: Registry): Models {
  const registers = [registry];
  const duration = new Histogram({
    name: 'tocsin_model_call_seconds',
    help: 'Duration of calls of language models, by alias and outcome (ok, or the kind of failure).',
    labelNames: ['alias', 'outcome'] as const,
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  const tokens = new Counter({
    name: 'tocsin_model_tokens_total',
    help: 'Tokens of language models, by alias and direction.',
    labelNames: ['alias', 'direction'] as const,
    registers,
  });
  const cost = new Counter({
    name: 'tocsin_model_cost_usd_total',
    help: 'Cost of language models in US dollars at the configured prices, by alias.',
    labelNames: ['alias'] as const,
    registers,
  });
  const measure = (model: ConfiguredModel): ConfiguredModel => ({
    ...model,
    call: async (request) => {
      const { alias } = model;
      const end = duration.startTimer({ alias });
      try {
        const response = await traceCall(model, request);
        end({ outcome: 'ok' });
        tokens.inc({ alias, direction: 'input' }, response.tokens.input);
        tokens.inc({ alias, direction: 'output' }, response.tokens.output);
        cost.inc({ alias }, callCostUsd(model, response.tokens) ?? 0);
        return response;
      } catch (error) {
        end({ outcome: error instanceof ModelError ? error.failure.kind : 'aborted' });
        throw error;
      }
    },
  });
  const measured = new Map(
    models.aliases.flatMap((alias) => {
      const model = models.find(alias);
      return model ? [[alias, measure(model)] as const] : [];
    }),
  );
  return withFallbacks({ ...models, find: (alias) => measured.get(alias) });
}

/** Calls the model in a span with the attributes of OpenTelemetry's conventions for generative AI, without what is sent and received. */
function traceCall({ entry, call }: ConfiguredModel, request: Parameters<ModelCall>[0]): ReturnType<ModelCall> {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': entry.provider,
    'gen_ai.request.model': entry.model,
  };
  return inSpan(`chat ${entry.model}`, { attributes, kind: SpanKind.CLIENT }, async (span) => {
    const response = await call(request);
    span.setAttribute('gen_ai.usage.input_tokens', response.tokens.input);
    span.setAttribute('gen_ai.usage.output_tokens', response.tokens.output);
    return response;
  });
}
