import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { Budgets } from './budgets.ts';

const name = z.string().min(1).max(500);
const secret = { apiKey: name.optional(), apiKeyEnv: name.optional() };
const common = {
  model: name.describe('As the provider names it; on Azure the deployment.'),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  maxOutputTokens: z.int().min(100).max(200_000).default(4_000),
  temperature: z.number().min(0).max(2).optional(),
  timeoutSeconds: z.int().min(1).max(600).default(120),
  /** It runs on machines of one's own: nothing leaves them. Shown, and checked by nobody. */
  local: z.boolean().default(false),
  price: z
    .strictObject({ inputPerMillion: z.number().min(0), outputPerMillion: z.number().min(0) })
    .default({ inputPerMillion: 0, outputPerMillion: 0 }),
  budgets: Budgets,
  /** Detection runs that may use it at the same time, over all processes. */
  runsAtOnce: z.int().min(1).max(1000).default(8),
};

const Entry = z.discriminatedUnion('provider', [
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
    /** Addresses of the older form, with the deployment in the path and the version behind it. */
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
/** Alias to what it stands for, every secret in its place. */
export type ModelSettings = Record<string, ModelEntry>;

const Aliases = z.record(z.string().regex(/^[\w.-]{1,64}$/), Entry);

type Environment = Record<string, string | undefined>;

/** Reads TOCSIN_MODELS: JSON, or the path of a file that holds it. Throws one sentence that names the alias and what is wrong with it. */
export function readModelSettings(text: string | undefined, env: Environment): ModelSettings {
  if (text === undefined) return {};
  const parsed = Aliases.safeParse(jsonOf(text));
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`);
    throw new Error(`TOCSIN_MODELS: ${problems.join('; ')}`);
  }
  if (parsed.data['analyst']) throw new Error('TOCSIN_MODELS: the alias "analyst" is the built-in analyst.');
  return Object.fromEntries(Object.entries(parsed.data).map(([alias, entry]) => [alias, filled(alias, entry, env)]));
}

function jsonOf(text: string): unknown {
  const isInline = text.trimStart().startsWith('{');
  if (!isInline && !existsSync(text)) throw new Error(`TOCSIN_MODELS: there is no file ${text}.`);
  try {
    return JSON.parse(isInline ? text : readFileSync(text, 'utf8'));
  } catch {
    // What the parser says may quote the text, and with it a key.
    throw new Error(`TOCSIN_MODELS: ${isInline ? 'it' : text} is not JSON.`);
  }
}

/** Takes secrets that are named by their variable from the environment, and refuses an entry that could not work. */
function filled(alias: string, entry: ModelEntry, env: Environment): ModelEntry {
  const full: Record<string, unknown> = { ...entry };
  for (const [field, variable] of Object.entries(entry)) {
    if (!field.endsWith('Env') || typeof variable !== 'string') continue;
    if (!env[variable]) throw new Error(`TOCSIN_MODELS: ${alias}.${field}: the variable ${variable} is not set.`);
    full[field.slice(0, -'Env'.length)] = env[variable];
  }
  const lacking = lackOf(full as ModelEntry);
  if (lacking) throw new Error(`TOCSIN_MODELS: ${alias}: ${lacking}`);
  return full as ModelEntry;
}

function lackOf(entry: ModelEntry): string | undefined {
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
