import type { ModelCall, TokenUsage } from './model-call.ts';
import type { ModelEntry, ModelSettings } from './model-settings.ts';

/** A model behind an alias. `name` is `provider/model`, as runs store it. */
export type ConfiguredModel = { alias: string; name: string; entry: ModelEntry; call: ModelCall };

export type Models = {
  /** Every alias that a detection may use, `default` and `analyst` first. */
  aliases: readonly string[];
  /** Returns undefined for `analyst`, which uses no model, and for an alias that is not configured. */
  find: (alias: string) => ConfiguredModel | undefined;
  /** The model name that runs store, by alias. */
  names: Readonly<Record<string, string>>;
  /** How many detection runs may use an alias at the same time, by alias. */
  concurrencyLimits: Readonly<Record<string, number>>;
};

export const builtInAliases: readonly string[] = ['default', 'analyst'];

/** Creates every configured model. A provider's client takes a second and 60 MB to load, so it is loaded at the first call. */
export function createModels(settings: ModelSettings): Models {
  const models = new Map(Object.entries(settings).map(([alias, entry]) => [alias, createModel(alias, entry)]));
  return {
    aliases: [...new Set([...builtInAliases, ...models.keys()])],
    find: (alias) => models.get(alias),
    names: Object.fromEntries([...models].map(([alias, { name }]) => [alias, name])),
    concurrencyLimits: Object.fromEntries(Object.entries(settings).map(([alias, entry]) => [alias, entry.runsAtOnce])),
  };
}

function createModel(alias: string, entry: ModelEntry): ConfiguredModel {
  const name = `${entry.provider}/${entry.model}`;
  let loading: Promise<ModelCall> | undefined;
  return { alias, name, entry, call: async (request) => (await (loading ??= loadClient(name, entry)))(request) };
}

async function loadClient(name: string, entry: ModelEntry): Promise<ModelCall> {
  const [{ createModelCall }, { createLanguageModel }] = await Promise.all([
    import('./model-call.ts'),
    import('./providers.ts'),
  ]);
  return createModelCall(name, entry, await createLanguageModel(entry));
}

/** Returns the cost of a call in US dollars, by the configured price. */
export function callCostUsd(
  { entry }: Pick<ConfiguredModel, 'entry'>,
  { input, output, cached = 0, cacheWritten = 0 }: TokenUsage,
): number {
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion } = entry.price;
  const plainInput = Math.max(0, input - cached - cacheWritten);
  const cost =
    plainInput * inputPerMillion +
    cached * (cachedInputPerMillion ?? inputPerMillion) +
    cacheWritten * (cacheWritePerMillion ?? inputPerMillion) +
    output * outputPerMillion;
  return cost / 1e6;
}
