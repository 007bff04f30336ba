import type { ModelBrain, ModelReply, ModelRequestRecord, Protocol } from './model-server.ts';

type Failure = { status: number; body: unknown; headers?: Record<string, string> };

/**
 * What tells the servers behind a provider apart. `entry` are the settings of an alias at the address of the stand-in. Failures are in the
 * words of the server. `obeys` is how it can be made to answer in a form.
 */
export type ProviderServer = {
  name: string;
  protocol: Protocol;
  entry: (url: string) => Record<string, unknown>;
  obeys: { forcedTool: boolean; schema: boolean };
  /** Undefined: the server cuts a prompt that is too long without an error. */
  tooLong: Failure | undefined;
  /** Undefined: every model of the provider calls tools. */
  noTools: Failure | undefined;
  rateLimited: Failure;
  /** The provider reports tokens that it read from its cache. */
  reportsCache: boolean;
};

const aws = { region: 'eu-north-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'aws-secret' };
const invalid = (message: string, code: string | null = null): Failure => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param: null, code } },
});
const obedient = { forcedTool: true, schema: true };
const openai = {
  obeys: obedient,
  tooLong: invalid(
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130021 tokens. Please reduce the length of the messages.",
    'context_length_exceeded',
  ),
  noTools: invalid('tools is not supported in this model. For a list of supported models, refer to the documentation.'),
  rateLimited: {
    status: 429,
    body: {
      error: {
        message: 'Rate limit reached for gpt-5-mini',
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      },
    },
    headers: { 'retry-after': '1', 'retry-after-ms': '20' },
  },
  reportsCache: true,
};
const compatible = (url: string) => ({ provider: 'openai-compatible', baseUrl: url });

export const providerServers: readonly ProviderServer[] = [
  {
    ...openai,
    name: 'openai, responses',
    protocol: 'openai-responses',
    entry: (url) => ({ provider: 'openai', apiKey: 'k', baseUrl: url }),
    tooLong: invalid(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
    ),
  },
  {
    ...openai,
    name: 'openai, chat',
    protocol: 'openai-chat',
    entry: (url) => ({ provider: 'openai', api: 'chat', apiKey: 'k', baseUrl: url }),
  },
  {
    ...openai,
    name: 'azure',
    protocol: 'openai-chat',
    entry: (url) => ({ provider: 'azure', apiKey: 'k', baseUrl: url, apiVersion: '2026-01-01' }),
  },
  {
    name: 'anthropic',
    protocol: 'anthropic',
    entry: (url) => ({ provider: 'anthropic', apiKey: 'k', baseUrl: url }),
    obeys: obedient,
    tooLong: {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      },
    },
    noTools: undefined,
    rateLimited: {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      headers: { 'retry-after': '0' },
    },
    reportsCache: true,
  },
  {
    name: 'google',
    protocol: 'gemini',
    entry: (url) => ({ provider: 'google', apiKey: 'k', baseUrl: url }),
    obeys: obedient,
    tooLong: {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    },
    noTools: {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'Function calling is not enabled for models/gemma-3-27b-it',
          status: 'INVALID_ARGUMENT',
        },
      },
    },
    rateLimited: {
      status: 429,
      body: {
        error: {
          code: 429,
          message: 'You exceeded your current quota.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.05s' }],
        },
      },
    },
    reportsCache: true,
  },
  {
    name: 'bedrock',
    protocol: 'bedrock',
    entry: (url) => ({ provider: 'bedrock', ...aws, baseUrl: url.replace(/\/v1$/, '') }),
    obeys: obedient,
    tooLong: {
      status: 400,
      body: { message: 'Input is too long for requested model.' },
      headers: { 'x-amzn-errortype': 'ValidationException' },
    },
    noTools: {
      status: 400,
      body: { message: "This model doesn't support tool use in streaming mode." },
      headers: { 'x-amzn-errortype': 'ValidationException' },
    },
    rateLimited: {
      status: 429,
      body: { message: 'Too many requests, please wait before trying again.' },
      headers: { 'x-amzn-errortype': 'ThrottlingException', 'retry-after': '0' },
    },
    reportsCache: true,
  },
  {
    name: 'vLLM',
    protocol: 'openai-chat',
    entry: compatible,
    obeys: obedient,
    tooLong: {
      status: 400,
      body: {
        object: 'error',
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    noTools: {
      status: 400,
      body: {
        object: 'error',
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    rateLimited: { status: 503, body: { detail: 'Service Unavailable' }, headers: { 'retry-after': '0' } },
    reportsCache: true,
  },
  {
    name: 'Ollama',
    protocol: 'openai-chat',
    entry: compatible,
    obeys: { forcedTool: false, schema: true },
    tooLong: undefined,
    noTools: {
      status: 400,
      body: {
        error: {
          message: 'registry.ollama.ai/library/gemma3:270m does not support tools',
          type: 'api_error',
          param: null,
          code: null,
        },
      },
    },
    rateLimited: {
      status: 503,
      body: {
        error: { message: 'server busy, please try again. maximum pending requests exceeded', type: 'api_error' },
      },
      headers: { 'retry-after': '0' },
    },
    reportsCache: false,
  },
  {
    name: 'llama.cpp',
    protocol: 'openai-chat',
    entry: compatible,
    obeys: { forcedTool: false, schema: true },
    tooLong: {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 9031,
          n_ctx: 8192,
        },
      },
    },
    noTools: {
      status: 500,
      body: { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
    },
    rateLimited: {
      status: 503,
      body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      headers: { 'retry-after': '0' },
    },
    reportsCache: true,
  },
  {
    name: 'a server without tools and schemas',
    protocol: 'openai-chat',
    entry: compatible,
    obeys: { forcedTool: false, schema: false },
    tooLong: invalid("the prompt is longer than the model's context length"),
    noTools: invalid('This model does not support function calling'),
    rateLimited: { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '0' } },
    reportsCache: false,
  },
];

/**
 * Answers as a server does that has to submit `answer`: in the form that it can be made to use, or else as models do, with reasoning in tags
 * and JSON in a code fence between sentences.
 */
export function submitAs(
  { obeys }: Pick<ProviderServer, 'obeys'>,
  asked: ModelRequestRecord,
  answer: object,
): ModelReply {
  const { forced, tools } = asked;
  if (forced !== undefined && tools.includes(forced)) {
    if (obeys.forcedTool) return { calls: [{ name: forced, input: answer }] };
    return { text: 'I would say that the severity is {low}, but let me know if you need more.' };
  }
  if (forced !== undefined && obeys.schema) return { text: JSON.stringify(answer) };
  const fenced = `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``;
  return {
    text: `<think>The user wants {"reasons": []}, so I think.</think>Sure! Here it is:\n\n${fenced}\nDoes that help?`,
  };
}

export const serverOf = (name: string): ProviderServer => providerServers.find((server) => server.name === name)!;

/** A valid answer to the check of structured output. */
export const probeAnswer = { reasons: ['known host'], severity: 'low', count: 3 };

/** Answers the calls of a check as a model that does everything, except for what `quirks` answer. */
export const answerProbes =
  (server: ProviderServer, quirks: { [Probe in 'tools' | 'long' | 'cut']?: ModelReply } = {}): ModelBrain =>
  (asked) => {
    const text = asked.turns.at(-1)!.text;
    if (text.includes('Call the tool')) return quirks.tools ?? { calls: [{ name: 'lookup', input: { key: 'A7' } }] };
    if (text.includes('Submit the severity')) return submitAs(server, asked, probeAnswer);
    if (text.includes('password'))
      return quirks.long ?? { text: 'walnut', usage: { input: text.split(/\s+/).length + 30, output: 2 } };
    return quirks.cut ?? { text: '1, 2, 3', end: 'length', usage: { input: 40, output: 16 } };
  };
