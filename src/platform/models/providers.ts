import type { LanguageModel } from 'ai';
import { outboundFetch } from '../lib/outbound-http/proxy.ts';
import type { ModelEntry } from './model-settings.ts';

type Provider = ModelEntry['provider'];
type EntryOf<P extends Provider> = Extract<ModelEntry, { provider: P }>;

/** Creates the AI SDK's model from the settings, per provider. Loads only the packages of configured providers and sends no request. */
const providers: { [P in Provider]: (entry: EntryOf<P>) => Promise<LanguageModel> } = {
  openai: async (entry) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const openai = createOpenAI({ ...commonOptions(entry), ...definedOnly({ organization: entry.organization }) });
    return entry.api === 'chat' ? openai.chat(entry.model) : openai.responses(entry.model);
  },
  anthropic: async (entry) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(commonOptions(entry))(entry.model);
  },
  google: async (entry) => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI(commonOptions(entry))(entry.model);
  },
  azure: async (entry) => {
    const { createAzure } = await import('@ai-sdk/azure');
    const { resourceName, apiVersion, deploymentUrls: useDeploymentBasedUrls } = entry;
    const azure = createAzure({
      ...commonOptions(entry),
      ...definedOnly({ resourceName, apiVersion, useDeploymentBasedUrls }),
    });
    return entry.api === 'chat' ? azure.chat(entry.model) : azure.responses(entry.model);
  },
  bedrock: async (entry) => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const { region, accessKeyId, secretAccessKey, sessionToken } = entry;
    const keys = definedOnly({ region, accessKeyId, secretAccessKey, sessionToken });
    return createAmazonBedrock({ ...commonOptions(entry), ...keys })(entry.model);
  },
  'openai-compatible': async (entry) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const name = 'openai-compatible';
    return createOpenAICompatible({ ...commonOptions(entry), name, baseURL: entry.baseUrl, includeUsage: true })(
      entry.model,
    );
  },
};

export function createLanguageModel(entry: ModelEntry): Promise<LanguageModel> {
  return (providers[entry.provider] as (entry: ModelEntry) => Promise<LanguageModel>)(entry);
}

function commonOptions({ apiKey, baseUrl, headers }: ModelEntry) {
  return { ...definedOnly({ apiKey, baseURL: baseUrl, headers }), fetch: modelFetch };
}

function definedOnly<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]: Exclude<T[K], undefined> };
}

const bytesMax = 8 * 1024 * 1024;

/** The fetch of every provider. Rejects redirects, so that prompts reach only the configured address, and responses over 8 MiB. */
const modelFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await outboundFetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limitBytes()), { status, statusText, headers });
};

function limitBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > bytesMax) controller.error(new Error(`the response is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
