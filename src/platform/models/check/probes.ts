import { z } from 'zod';
import { findAnswer } from '../calls/structured-output.ts';
import { ModelError } from '../model-error.ts';
import { type ModelRequest, type ModelResponse, OutputWay, type ToolDeclaration } from '../model-request.ts';
import type { ModelEntry } from '../providers.ts';
import type { ModelCheck } from './model-check.schema.ts';

type ProbeResult = ModelCheck['checks'][number];

/** What a probe needs: the entry of the alias, and a call that counts what it costs. */
export type Probe = {
  entry: ModelEntry;
  signal: AbortSignal;
  call: (request: ModelRequest) => Promise<ModelResponse>;
};

const system = 'You test the connection to a language model. Do exactly what the user asks, without explanations.';
const user = (content: string) => [{ role: 'user' as const, content }];

const lookupTool: ToolDeclaration = {
  name: 'lookup',
  description: 'Looks up the value of a key.',
  inputSchema: {
    type: 'object',
    properties: { key: { type: 'string' } },
    required: ['key'],
    additionalProperties: false,
  },
};

const Answer = z.object({ reasons: z.array(z.string()).min(1), severity: z.enum(['low', 'high']), count: z.int() });
const answerTool: ToolDeclaration = {
  name: 'submit',
  description: 'Submits the answer.',
  inputSchema: {
    type: 'object',
    properties: {
      reasons: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
      severity: { type: 'string', enum: ['low', 'high'] },
      count: { type: 'integer' },
    },
    required: ['reasons', 'severity', 'count'],
    additionalProperties: false,
  },
};

/** Runs a probe. An error becomes a failed check, whose message names the remedy. */
async function run(
  name: ProbeResult['name'],
  { signal }: Probe,
  work: () => Promise<Omit<ProbeResult, 'name' | 'ms'>>,
): Promise<ProbeResult> {
  const startedAt = performance.now();
  const ms = (): number => Math.round(performance.now() - startedAt);
  try {
    return { name, ...(await work()), ms: ms() };
  } catch (error) {
    if (error instanceof ModelError) return { name, ...describeFailure(error), ms: ms() };
    if (!signal.aborted) throw error;
    const remedy = 'Use a faster model or server, or lower `contextTokens` of the alias.';
    return { name, ok: false, ms: ms(), detail: 'The check had taken five minutes before this call ended.', remedy };
  }
}

export const remedies: Record<string, string> = {
  model_refused_key: 'Correct the key of the alias in TOCSIN_MODELS, and the access that it gives to the model.',
  model_unknown: 'Correct `model` and `baseUrl` of the alias in TOCSIN_MODELS.',
  model_unavailable: 'Start the server of the model, or correct `baseUrl` of the alias in TOCSIN_MODELS.',
  model_rate_limited:
    'Raise the limits or the credit of the account at the provider, and list `fallbacks` for the alias.',
  model_timeout: 'Raise `timeoutSeconds` of the alias, or use a faster model or server.',
  model_truncated: 'Raise `maxOutputTokens` of the alias, or lower its `reasoningEffort`.',
  model_no_tools: noToolsRemedy(),
  model_context_too_small:
    'Raise the context of the server (llama.cpp `-c`, vLLM `--max-model-len`, Ollama `OLLAMA_CONTEXT_LENGTH`), set `contextTokens` of the alias to it, or use a model with a larger one.',
  model_bad_request: 'Read the message of the provider, and correct the settings of the alias that it names.',
  model_refused: 'Use another model: this one refuses harmless requests.',
  budget_exceeded: 'Raise the budget of the alias that is used up, or wait for its next period.',
};

function noToolsRemedy(): string {
  return 'Use a model that supports tool calls, or enable them on its server (llama.cpp `--jinja`, vLLM `--enable-auto-tool-choice --tool-call-parser …`). Detections without `toolNames` can use the alias as it is.';
}

function describeFailure({ failure }: ModelError): Omit<ProbeResult, 'name' | 'ms'> {
  const remedy = remedies[failure.kind] ?? 'Correct the settings of the alias.';
  return { ok: false, detail: failure.message, remedy };
}

/** Offers a tool that the model has to decide to call, as it does in an investigation. */
export const probeTools = (probe: Probe): Promise<ProbeResult> =>
  run('tools', probe, async () => {
    const { toolCalls } = await probe.call({
      system,
      messages: user('Call the tool lookup with the key "A7".'),
      tools: [lookupTool, answerTool],
      signal: probe.signal,
    });
    const call = toolCalls.find(({ name }) => name === lookupTool.name);
    if (call?.input?.['key'] === 'A7') return passed('The model called the tool as it was asked to.');
    const detail = call
      ? 'The model called the tool with a wrong input.'
      : 'The model answered without calling the tool that it was asked to call.';
    return { ok: false, detail, remedy: noToolsRemedy() };
  });

const passed = (detail: string) => ({ ok: true, detail, remedy: null });

/** Asks for a structured answer in each way until one is valid. */
export async function probeStructuredOutput(
  probe: Probe,
  callsTools: boolean,
): Promise<ProbeResult & { answersBy: OutputWay | null }> {
  const ways = callsTools ? OutputWay.options : OutputWay.options.filter((way) => way !== 'tool');
  const failures: string[] = [];
  let failed: ProbeResult | undefined;
  for (const way of ways) {
    const result = await run('structuredOutput', probe, () => tryWay(probe, way));
    const before = failures.length === 0 ? '' : ` Not valid: ${failures.join(', ')}.`;
    if (result.ok) return { ...result, detail: `${result.detail}${before}`, answersBy: way };
    failures.push(wayLabels[way]);
    failed ??= result;
  }
  return { ...failed!, answersBy: null };
}

const wayLabels: Record<OutputWay, string> = {
  schema: 'text in a JSON schema',
  tool: 'the input of a tool',
  text: 'JSON in plain text',
};

async function tryWay({ call, signal }: Probe, way: OutputWay): Promise<Omit<ProbeResult, 'name' | 'ms'>> {
  const response = await call({
    system,
    messages: user('Submit the severity low, the count 3, and the reasons "known host" and "office hours".'),
    tools: [answerTool],
    forcedTool: answerTool.name,
    outputWay: way,
    signal,
  });
  if (Answer.safeParse(findAnswer(response, answerTool)).success)
    return passed(`Structured answers are submitted as ${wayLabels[way]}.`);
  const detail = `The model submits no valid answer, not even as ${wayLabels[way]}.`;
  return { ok: false, detail, remedy: 'Use a larger model, or a server that supports JSON schemas.' };
}

/** The prompts of an investigation of several steps have about as many tokens. */
const longTokens = 16_000;
/** Prompts of a detection with rules, rows and context have at least as many. */
const promptTokensMin = 6_000;
/** Each word has at least one token in every tokenizer. */
const words = 'time host user file port name rule case list data note page line item code path'.split(' ');

/**
 * Sends a prompt with a known least number of tokens. Some servers cut a prompt that is too long without an error, so what they count
 * is compared, or if they do not count, whether the model has read the beginning.
 */
export const probeLongInput = (probe: Probe): Promise<ProbeResult> =>
  run('longInput', probe, async () => {
    const { contextTokens, maxOutputTokens } = probe.entry;
    const room = contextTokens - maxOutputTokens;
    if (room < promptTokensMin) {
      const detail = `\`contextTokens\` (${contextTokens}) less \`maxOutputTokens\` (${maxOutputTokens}) leaves ${room} tokens for prompts, which have ${promptTokensMin} and more.`;
      return { ok: false, detail, remedy: remedies['model_context_too_small']! };
    }
    // Some tokenizers need more than one token for a word.
    const count = Math.min(longTokens, Math.floor((room - 500) * 0.75));
    const text = Array.from({ length: count }, (_, index) => words[index % words.length]).join(' ');
    const { tokens, text: reply } = await probe.call({
      system,
      messages: user(`The password is walnut.\n${text}\nReply with the password from the first line.`),
      tools: [],
      signal: probe.signal,
    });
    if (!tokens.isEstimate && tokens.input >= count)
      return passed(`The model accepted a prompt of ${tokens.input} tokens.`);
    if (tokens.isEstimate && /walnut/i.test(reply))
      return passed(`The model read a prompt of about ${count} tokens to its beginning.`);
    const seen = tokens.isEstimate ? 'the model does not know its beginning' : `it counts ${tokens.input}`;
    const detail = `The server cut a prompt of at least ${count} tokens without an error: ${seen}.`;
    return { ok: false, detail, remedy: remedies['model_context_too_small']! };
  });

const cutTokens = 16;

/** Asks for more than is allowed. A server that does not say so would pass off half an answer as a whole one. */
export const probeTruncation = (probe: Probe): Promise<ProbeResult> =>
  run('truncation', probe, async () => {
    const request = {
      system,
      messages: user('Write the numbers from 1 to 500, separated by commas.'),
      tools: [],
      maxOutputTokens: cutTokens,
      signal: probe.signal,
    };
    try {
      const { tokens } = await probe.call(request);
      const detail =
        tokens.output > 2 * cutTokens
          ? `The server wrote ${tokens.output} tokens where ${cutTokens} were allowed.`
          : 'The server does not report that it cut an answer.';
      const remedy = 'Update the server, or use one that honors the limit of output tokens and reports `length`.';
      return { ok: false, detail, remedy };
    } catch (error) {
      if (!(error instanceof ModelError) || error.failure.kind !== 'model_truncated') throw error;
      return passed('The server reports that an answer was cut.');
    }
  });
