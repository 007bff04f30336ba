import { z } from 'zod';
import { inOrg, type Db } from '../db/db.ts';
import type { Caller } from '../http/caller.ts';
import { findModelPauses } from './model-pauses.store.ts';
import type { ModelCall, TokenUsage } from './model-call.ts';
import type { ModelSettings } from './model-settings.ts';
import type { ModelEntry } from './providers.ts';

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
  const { createLanguageModel, createModelCall } = await import('./model-call.ts');
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

export type ListModelsDeps = { db: Db; models?: Models };

/** Lists the aliases that a detection may use, the model behind each, and whether it is paused for the organization. Contains no secrets. */
export async function listModels({ db, models }: ListModelsDeps, { orgId }: Caller): Promise<ModelList> {
  const pauses = await inOrg(db, orgId, (tx) => findModelPauses(tx, orgId));
  const pauseByAlias = new Map(pauses.map((pause) => [pause.alias, pause]));
  return {
    models: (models?.aliases ?? builtInAliases).map((alias) => {
      const model = models?.find(alias);
      const pause = pauseByAlias.get(alias);
      return {
        alias,
        model: model?.name ?? 'analyst',
        local: model?.entry.local ?? true,
        price: model?.entry.price ?? { inputPerMillion: 0, outputPerMillion: 0 },
        paused: pause ? { since: pause.since_at.toISOString(), kind: pause.kind, message: pause.message } : null,
      };
    }),
  };
}

export const ModelList = z.object({
  models: z.array(
    z.object({
      alias: z.string(),
      model: z.string().describe('Provider and model, or `analyst`.'),
      local: z.boolean(),
      price: z.object({
        inputPerMillion: z.number(),
        outputPerMillion: z.number(),
        cachedInputPerMillion: z.number().optional(),
        cacheWritePerMillion: z.number().optional(),
      }),
      paused: z.object({ since: z.string(), kind: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type ModelList = z.infer<typeof ModelList>;
