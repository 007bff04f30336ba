import { z } from 'zod';
import { findSetting, type Environment, parseJsonSetting } from '../lib/settings-input.ts';
import { Budgets } from './budgets.ts';

const name = z.string().min(1).max(500);
const secret = { apiKey: name.optional(), apiKeyEnv: name.optional() };
const common = {
  model: name.describe("The provider's model name; on Azure the deployment name."),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  maxOutputTokens: z.int().min(100).max(200_000).default(4_000),
  temperature: z.number().min(0).max(2).optional(),
  timeoutSeconds: z.int().min(1).max(600).default(120),
  /** The model runs on the operator's own machines. Informational only. */
  local: z.boolean().default(false),
  price: z
    .strictObject({
      inputPerMillion: z.number().min(0),
      outputPerMillion: z.number().min(0),
      /** Input tokens from the provider's prompt cache, and those written to it. Default: the price of other input. */
      cachedInputPerMillion: z.number().min(0).optional(),
      cacheWritePerMillion: z.number().min(0).optional(),
    })
    .default({ inputPerMillion: 0, outputPerMillion: 0 }),
  /** Mark prompts for the provider's cache. Default: for Anthropic. The other providers cache without marks, or on Bedrock if set. */
  promptCache: z.boolean().optional(),
  budgets: Budgets,
  /** How many detection runs may use the model at the same time, across all processes. */
  runsAtOnce: z.int().min(1).max(1000).default(8),
  /** How many entities one run lets the model judge at the same time. */
  entitiesAtOnce: z.int().min(1).max(32).default(4),
};

export const Entry = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.literal('openai'),
    ...common,
    ...secret,
    organization: name.optional(),
    api: z.enum(['responses', 'chat']).default('responses'),
  }),
  z.strictObject({ provider: z.literal('anthropic'), ...common, ...secret }),
  z.strictObject({ provider: z.literal('google'), ...common, ...secret }),
  z.strictObject({
    provider: z.literal('azure'),
    ...common,
    ...secret,
    resourceName: name.optional(),
    apiVersion: name.optional(),
    /** Use the older URL form, with the deployment in the path and the API version as a parameter. */
    deploymentUrls: z.boolean().optional(),
    api: z.enum(['responses', 'chat']).default('chat'),
  }),
  z.strictObject({
    provider: z.literal('bedrock'),
    ...common,
    ...secret,
    region: name,
    accessKeyId: name.optional(),
    accessKeyIdEnv: name.optional(),
    secretAccessKey: name.optional(),
    secretAccessKeyEnv: name.optional(),
    sessionToken: name.optional(),
    sessionTokenEnv: name.optional(),
  }),
  z.strictObject({
    provider: z.literal('openai-compatible'),
    ...common,
    ...secret,
    baseUrl: z.url({ protocol: /^https?$/ }),
  }),
]);
export type ModelEntry = z.infer<typeof Entry>;
/** Model entries by alias, with secrets resolved. */
export type ModelSettings = Record<string, ModelEntry>;

const Aliases = z.record(z.string().regex(/^[\w.-]{1,64}$/), Entry);

/** Parses TOCSIN_MODELS, which is JSON or the path of a JSON file. Throws an error that states the alias and the problem. */
export function readModelSettings(text: string | undefined, env: Environment): ModelSettings {
  if (text === undefined) return {};
  const entries = parseJsonSetting('TOCSIN_MODELS', text, Aliases);
  if (entries['analyst']) throw new Error('TOCSIN_MODELS: the alias "analyst" is reserved for the built-in analyst.');
  return Object.fromEntries(
    Object.entries(entries).map(([alias, entry]) => [alias, resolveSecrets(alias, entry, env)]),
  );
}

/** Returns the names of the environment variables from which the secrets of the entries come. */
export const listSecretVariables = (settings: ModelSettings): string[] =>
  Object.values(settings).flatMap((entry) =>
    Object.entries(entry).flatMap(([field, value]) => (isVariable(field) ? [String(value)] : [])),
  );

const isVariable = (field: string): boolean => field.endsWith('Env');

/** Reads secrets from the environment variables that `…Env` fields specify, or from the files of their `_FILE` variables, and rejects an incomplete entry. */
function resolveSecrets(alias: string, entry: ModelEntry, env: Environment): ModelEntry {
  const resolved: Record<string, unknown> = { ...entry };
  for (const [field, variable] of Object.entries(entry)) {
    if (!isVariable(field) || typeof variable !== 'string') continue;
    const secret = findSetting(env, variable);
    if (secret === undefined)
      throw new Error(`TOCSIN_MODELS: ${alias}.${field}: the environment variable ${variable} is not set.`);
    resolved[field.slice(0, -'Env'.length)] = secret;
  }
  const missing = findMissing(resolved as ModelEntry);
  if (missing) throw new Error(`TOCSIN_MODELS: ${alias}: ${missing}`);
  return resolved as ModelEntry;
}

function findMissing(entry: ModelEntry): string | undefined {
  if (entry.provider === 'azure' && !entry.baseUrl && !entry.resourceName)
    return 'azure needs resourceName or baseUrl.';
  if (entry.provider === 'bedrock') {
    return entry.apiKey || (entry.accessKeyId && entry.secretAccessKey)
      ? undefined
      : 'bedrock needs apiKey, or accessKeyId and secretAccessKey.';
  }
  return entry.provider === 'openai-compatible' || entry.apiKey
    ? undefined
    : `${entry.provider} needs apiKey or apiKeyEnv.`;
}
