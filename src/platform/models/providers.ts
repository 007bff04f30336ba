import type { LanguageModel } from 'ai';
import { modelFetch } from './model-fetch.ts';
import type { ModelEntry } from './model-settings.ts';

type Provider = ModelEntry['provider'];
type EntryOf<P extends Provider> = Extract<ModelEntry, { provider: P }>;

/** One line a provider: from settings to the AI SDK's model, loaded only where it is configured. Nothing is fetched here. */
const providers: { [P in Provider]: (entry: EntryOf<P>) => Promise<LanguageModel> } = {
  openai: async (entry) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const openai = createOpenAI({ ...basics(entry), ...only({ organization: entry.organization }) });
    return entry.api === 'chat' ? openai.chat(entry.model) : openai.responses(entry.model);
  },
  anthropic: async (entry) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(basics(entry))(entry.model);
  },
  google: async (entry) => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI(basics(entry))(entry.model);
  },
  azure: async (entry) => {
    const { createAzure } = await import('@ai-sdk/azure');
    const { resourceName, apiVersion, deploymentUrls: useDeploymentBasedUrls } = entry;
    const azure = createAzure({ ...basics(entry), ...only({ resourceName, apiVersion, useDeploymentBasedUrls }) });
    return entry.api === 'chat' ? azure.chat(entry.model) : azure.responses(entry.model);
  },
  bedrock: async (entry) => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const { region, accessKeyId, secretAccessKey, sessionToken } = entry;
    const keys = only({ region, accessKeyId, secretAccessKey, sessionToken });
    return createAmazonBedrock({ ...basics(entry), ...keys })(entry.model);
  },
  'openai-compatible': async (entry) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const name = 'openai-compatible';
    return createOpenAICompatible({ ...basics(entry), name, baseURL: entry.baseUrl, includeUsage: true })(entry.model);
  },
};

export function languageModelOf(entry: ModelEntry): Promise<LanguageModel> {
  return (providers[entry.provider] as (entry: ModelEntry) => Promise<LanguageModel>)(entry);
}

function basics({ apiKey, baseUrl, headers }: ModelEntry) {
  return { ...only({ apiKey, baseURL: baseUrl, headers }), fetch: modelFetch };
}

function only<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
