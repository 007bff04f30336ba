import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { Budgets } from './budgets.ts';

export const Alias = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores');
const name = z.string().min(1).max(500);
const secret = { apiKey: name.optional(), apiKeyEnv: name.optional() };
export const common = {
  model: name.describe("The provider's model name; on Azure the deployment name."),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** The most tokens that a prompt and its answer have together. A longer prompt is not sent. */
  contextTokens: z.int().min(1_000).max(10_000_000).default(128_000),
  maxOutputTokens: z.int().min(100).max(200_000).default(4_000),
  /** How much the model reasons before it answers, in the provider's own terms. Default: what the provider does. */
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** The time of a call, its repetitions included. */
  timeoutSeconds: z.int().min(1).max(600).default(120),
  /** How often a request is repeated within the call after a transient failure. */
  maxRetries: z.int().min(0).max(10).default(2),
  /** The aliases that answer in this order when this one fails. */
  fallbacks: z.array(Alias).max(5).default([]),
  /** The alias that investigates once more what this one leaves undecided. */
  escalateTo: Alias.optional(),
  /** The model runs on the operator's own machines. Informational only. */
  local: z.boolean().default(false),
  /** ISO 639-1 code of the language in which it writes about reports of the feed. Default: that of the report. */
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(),
  /** Without it, what the alias costs is unknown. */
  price: z
    .strictObject({
      inputPerMillion: z.number().min(0),
      outputPerMillion: z.number().min(0),
      /** Input tokens from the provider's prompt cache, and those written to it. Default: the price of other input. */
      cachedInputPerMillion: z.number().min(0).optional(),
      cacheWritePerMillion: z.number().min(0).optional(),
    })
    .optional(),
  /** Mark prompts for the provider's cache. Default: for Anthropic. The other providers cache without marks, or on Bedrock if set. */
  promptCache: z.boolean().optional(),
  budgets: Budgets,
  /** How many detection runs may use the model at the same time, across all processes. */
  runsAtOnce: z.int().min(1).max(1000).default(8),
  /** How many entities one run lets the model judge at the same time. */
  entitiesAtOnce: z.int().min(1).max(32).default(4),
  /** Have each fact that the model claims checked by a second call, of the alias `verifier` if there is one. Otherwise no claim is called more than cited. */
  verifyClaims: z.boolean().default(true),
};

const optional = name.optional();
const awsKey = { accessKeyId: optional, accessKeyIdEnv: optional, secretAccessKey: optional };
const awsSession = { secretAccessKeyEnv: optional, sessionToken: optional, sessionTokenEnv: optional };

type Settings<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<typeof common>> & z.infer<z.ZodObject<Shape>>;

type ClientOptions = { apiKey?: string; baseURL?: string; headers?: Record<string, string>; fetch: typeof fetch };

/** Everything that depends on the provider of a model. */
type Provider<Shape extends z.ZodRawShape> = {
  /** Settings besides those of every provider. Secrets have a second one that ends with `Env`. */
  settings: Shape;
  /** Prompts are marked for the provider's cache by default. */
  marksPrompts: boolean;
  /** What the provider writes about failures whose status does not tell them apart. */
  wordings: Wordings;
  /** What the provider calls the end of a response that it refused, or that the limit of tokens cut. */
  stopReasons: StopReasons;
  /** Returns the settings that the provider needs and the entry lacks, or undefined. */
  findMissing: (entry: Settings<Shape>) => string | undefined;
  /** Creates the AI SDK's model. Loads only the package of the provider and sends no request. */
  create: (entry: Settings<Shape>, options: ClientOptions) => Promise<LanguageModel>;
};

/** The prompt exceeds the context; the model or server cannot call tools; the account has no credit left. */
type Wordings = { tooLong: RegExp[]; noTools: RegExp[]; noCredit: RegExp[] };

type StopReasons = { refused: readonly string[]; cut: readonly string[] };

const openaiStopReasons: StopReasons = { refused: ['content_filter'], cut: ['length', 'max_output_tokens'] };

const openaiWordings: Wordings = {
  tooLong: [/context_length_exceeded/, /maximum context length/, /exceeds the context window/],
  noTools: [/tools? (?:is|are) not supported/, /does not support (?:tools|function)/],
  noCredit: [/insufficient_quota/],
};

const define = <Shape extends z.ZodRawShape>(provider: Provider<Shape>): Provider<Shape> => provider;
const needKey = ({ apiKey }: { apiKey?: string | undefined }) => (apiKey ? undefined : 'apiKey or apiKeyEnv');

export const providers = {
  openai: define({
    settings: { ...secret, organization: name.optional(), api: z.enum(['responses', 'chat']).default('responses') },
    marksPrompts: false,
    wordings: openaiWordings,
    stopReasons: openaiStopReasons,
    findMissing: needKey,
    create: async ({ model, api, organization }, options) => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ ...options, ...definedOnly({ organization }) });
      return api === 'chat' ? openai.chat(model) : openai.responses(model);
    },
  }),
  anthropic: define({
    settings: secret,
    marksPrompts: true,
    wordings: {
      tooLong: [/prompt is too long/, /input length and `?max_tokens`? exceed context limit/],
      noTools: [/does not support tool/],
      noCredit: [/credit balance is too low/],
    },
    stopReasons: { refused: ['refusal'], cut: ['max_tokens', 'model_context_window_exceeded'] },
    findMissing: needKey,
    create: async ({ model }, options) => (await import('@ai-sdk/anthropic')).createAnthropic(options)(model),
  }),
  google: define({
    settings: secret,
    marksPrompts: false,
    wordings: {
      tooLong: [/input token count .*exceeds the maximum/],
      noTools: [/function calling is not (?:enabled|supported)/i],
      noCredit: [/prepayment credits are depleted/],
    },
    stopReasons: {
      refused: ['SAFETY', 'IMAGE_SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
      cut: ['MAX_TOKENS', 'CONTINUATION'],
    },
    findMissing: needKey,
    create: async ({ model }, options) => (await import('@ai-sdk/google')).createGoogleGenerativeAI(options)(model),
  }),
  azure: define({
    settings: {
      ...secret,
      resourceName: name.optional(),
      apiVersion: name.optional(),
      /** Use the older URL form, with the deployment in the path and the API version as a parameter. */
      deploymentUrls: z.boolean().optional(),
      api: z.enum(['responses', 'chat']).default('chat'),
    },
    marksPrompts: false,
    wordings: openaiWordings,
    stopReasons: openaiStopReasons,
    findMissing: (entry) => (entry.baseUrl || entry.resourceName ? needKey(entry) : 'resourceName or baseUrl'),
    create: async ({ model, api, resourceName, apiVersion, deploymentUrls: useDeploymentBasedUrls }, options) => {
      const { createAzure } = await import('@ai-sdk/azure');
      const azure = createAzure({ ...options, ...definedOnly({ resourceName, apiVersion, useDeploymentBasedUrls }) });
      return api === 'chat' ? azure.chat(model) : azure.responses(model);
    },
  }),
  bedrock: define({
    settings: { ...secret, region: name, ...awsKey, ...awsSession },
    marksPrompts: false,
    wordings: {
      tooLong: [
        /input is too long for requested model/i,
        /maximum context length/,
        /prompt is too long/i,
        /Input Tokens Exceeded/,
      ],
      noTools: [/doesn't support tool use/, /does not support tool/],
      noCredit: [],
    },
    stopReasons: {
      refused: ['content_filtered', 'guardrail_intervened'],
      cut: ['max_tokens', 'model_context_window_exceeded'],
    },
    findMissing: ({ apiKey, accessKeyId, secretAccessKey }) =>
      apiKey || (accessKeyId && secretAccessKey) ? undefined : 'apiKey, or accessKeyId and secretAccessKey',
    create: async ({ model, region, accessKeyId, secretAccessKey, sessionToken }, options) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      const keys = definedOnly({ region, accessKeyId, secretAccessKey, sessionToken });
      return createAmazonBedrock({ ...options, ...keys })(model);
    },
  }),
  'openai-compatible': define({
    settings: { ...secret, baseUrl: z.url({ protocol: /^https?$/ }) },
    marksPrompts: false,
    wordings: {
      tooLong: [
        ...openaiWordings.tooLong,
        /exceed_context_size_error/,
        /exceeds? the available context size/,
        /input length .*exceeds? .*context/,
        /longer than the model's context length/,
      ],
      noTools: [
        ...openaiWordings.noTools,
        /requires --jinja/,
        /requires --enable-auto-tool-choice/,
        /No endpoints found that support tool use/,
      ],
      noCredit: openaiWordings.noCredit,
    },
    stopReasons: openaiStopReasons,
    findMissing: () => undefined,
    create: async ({ model, baseUrl: baseURL }, options) => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        ...options,
        name: 'openai-compatible',
        baseURL,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(model);
    },
  }),
};

export function definedOnly<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]: Exclude<T[K], undefined> };
}

type ProviderName = keyof typeof providers;
type EntryOf<P extends ProviderName> = { provider: P } & Settings<(typeof providers)[P]['settings']>;
/** The settings of a model. */
export type ModelEntry = { [P in ProviderName]: EntryOf<P> }[ProviderName];

/** Returns the provider of an entry, whose functions accept this entry. */
export const providerOf = ({ provider }: ModelEntry) => providers[provider] as unknown as Provider<typeof secret>;
