import type { ModelRequestRecord } from './model-server.ts';

const charsPerToken = 4;
const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charsPerToken);

type Body = { system?: unknown; tools?: unknown; messages: unknown[] };

/**
 * Simulates a provider's prompt cache. Returns the usage of each request: the tools and the system prompt come from the cache if an
 * earlier request had the same ones, byte for byte. With `needsMark`, only prompts with a `cache_control` mark are cached.
 */
export function createPromptCache({ needsMark }: { needsMark: boolean }) {
  const prefixes = new Set<string>();
  return ({ raw, system }: ModelRequestRecord, output = 20) => {
    const body = JSON.parse(raw) as Body;
    const prefix = JSON.stringify([body.tools, system]);
    const input = tokensOf([body.tools, system, body.messages]);
    if (needsMark && !JSON.stringify(body.system ?? '').includes('cache_control')) return { input, output };
    const size = tokensOf([body.tools, system]);
    if (prefixes.has(prefix)) return { input, output, cached: size };
    prefixes.add(prefix);
    return { input, output, ...(needsMark ? { cacheWritten: size } : {}) };
  };
}
