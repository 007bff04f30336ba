import { z } from 'zod';
import { inOrg, type Db } from '../db/db.ts';
import type { Caller } from '../http/caller.ts';
import { findModelPauses } from './model-pauses.store.ts';
import { type AbilitiesStore, createAbilitiesStore, fingerprintOf } from './check/model-abilities.ts';
import { ModelCheck } from './check/model-check.schema.ts';
import { remedies } from './check/probes.ts';
import { type AbilitiesRow, listAbilitiesAcrossOrgs } from './check/model-abilities.store.ts';
import type { ModelCall, TokenUsage } from './model-request.ts';
import type { ModelSettings } from './model-settings.ts';
import type { ModelEntry } from './providers.ts';

/**
 * A model behind an alias. `name` is `provider/model`, as runs store it. `fallbacks` answer in their order when it fails, and until the
 * time in `rest` instead of it, in milliseconds of `Date.now()`.
 */
export type ConfiguredModel = {
  alias: string;
  name: string;
  entry: ModelEntry;
  call: ModelCall;
  fallbacks: readonly ConfiguredModel[];
  /** The model that decides what this one leaves undecided. */
  escalation?: ConfiguredModel;
  rest: { untilMs: number };
};

export type Models = {
  /** Every alias that a detection may use, `default` and `analyst` first. */
  aliases: readonly string[];
  /** Returns undefined for `analyst`, which uses no model, and for an alias that is not configured. */
  find: (alias: string) => ConfiguredModel | undefined;
  /** The model name that runs store, by alias. */
  names: Readonly<Record<string, string>>;
  /** How many detection runs may use an alias at the same time, and the alias of which each takes a place too, by alias. */
  concurrencyLimits: Readonly<Record<string, number | { places: number; escalateTo: string }>>;
  /** What is known of the aliases, shared by all processes. */
  abilities: AbilitiesStore;
};

export const builtInAliases: readonly string[] = ['default', 'analyst'];

/**
 * Creates every configured model. A provider's client takes a second and 60 MB to load, so it is loaded at the first call. What is known of
 * the aliases is kept in the database, if there is one.
 */
export function createModels(settings: ModelSettings, db?: Db): Models {
  const abilities = createAbilitiesStore(db);
  const entries = Object.entries(settings);
  const models = new Map(entries.map(([alias, entry]) => [alias, createModel(alias, entry, abilities)]));
  return withFallbacks({
    aliases: [...new Set([...builtInAliases, ...models.keys()])],
    find: (alias) => models.get(alias),
    names: Object.fromEntries([...models].map(([alias, { name }]) => [alias, name])),
    concurrencyLimits: Object.fromEntries(
      entries.map(([alias, { runsAtOnce: places, escalateTo }]) => [
        alias,
        escalateTo === undefined ? places : { places, escalateTo },
      ]),
    ),
    abilities,
  });
}

/** Returns the same models, each with its fallbacks and theirs, and the one that it escalates to. The settings have no cycles. */
export function withFallbacks(models: Models): Models {
  const listFallbacks = ({ entry }: ConfiguredModel): ConfiguredModel[] =>
    entry.fallbacks.flatMap((alias) => {
      const fallback = models.find(alias);
      return fallback ? [fallback, ...listFallbacks(fallback)] : [];
    });
  const linked = new Map(
    models.aliases.flatMap((alias) => {
      const model = models.find(alias);
      return model ? [[alias, { ...model, fallbacks: [...new Set(listFallbacks(model))] }] as const] : [];
    }),
  );
  return {
    ...models,
    find: (alias) => {
      const model = linked.get(alias);
      const escalation = model?.entry.escalateTo === undefined ? undefined : linked.get(model.entry.escalateTo);
      return model && escalation ? { ...model, escalation } : model;
    },
  };
}

function createModel(alias: string, entry: ModelEntry, abilities: AbilitiesStore): ConfiguredModel {
  const name = `${entry.provider}/${entry.model}`;
  let loading: Promise<ModelCall> | undefined;
  const load = async (): Promise<ModelCall> => {
    const { createModelCall } = await import('./calls/model-call.ts');
    return createModelCall({ name, entry, abilities: abilities.of(alias, entry) });
  };
  const call: ModelCall = async (request) => (await (loading ??= load()))(request);
  return { alias, name, entry, call, fallbacks: [], rest: { untilMs: 0 } };
}

/** Returns the cost of a call in US dollars, by the configured price. Null if the alias has none and the call used tokens. */
export function callCostUsd(
  { entry }: Pick<ConfiguredModel, 'entry'>,
  { input, output, cached = 0, cacheWritten = 0 }: TokenUsage,
): number | null {
  if (!entry.price) return input + output === 0 ? 0 : null;
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion } = entry.price;
  const plainInput = Math.max(0, input - cached - cacheWritten);
  const cost =
    plainInput * inputPerMillion +
    cached * (cachedInputPerMillion ?? inputPerMillion) +
    cacheWritten * (cacheWritePerMillion ?? inputPerMillion) +
    output * outputPerMillion;
  return cost / 1e6;
}

/** The tokens of a short question. */
const shortQuestion: TokenUsage = { input: 4_000, output: 300 };

/** A local model without a price costs nothing. */
const isPriceKnown = ({ entry: { local, price } }: ConfiguredModel): boolean => local || price !== undefined;

/**
 * Returns the model to ask short questions: the cheapest of a model and its fallbacks by what such a question costs, or the model itself if its price is
 * unknown or no fallback with a known price is cheaper. If the cheapest fails, the model answers.
 */
export function findCheapest(model: ConfiguredModel): ConfiguredModel {
  if (!isPriceKnown(model)) return model;
  const cost = (one: ConfiguredModel): number => callCostUsd(one, shortQuestion) ?? 0;
  const [cheapest] = model.fallbacks.filter(isPriceKnown).toSorted((a, b) => cost(a) - cost(b));
  return cheapest && cost(cheapest) < cost(model) ? { ...cheapest, fallbacks: [model] } : model;
}

export type ListModelsDeps = { db: Db; models?: Models };

/** Lists the aliases that a detection may use, the model behind each, and whether it is paused for the organization. Contains no secrets. */
export async function listModels({ db, models }: ListModelsDeps, { orgId }: Caller): Promise<ModelList> {
  const pauses = await inOrg(db, orgId, (tx) => findModelPauses(tx, orgId));
  const abilities = new Map((await listAbilitiesAcrossOrgs(db)).map((row) => [row.alias, row]));
  const pauseByAlias = new Map(pauses.map((pause) => [pause.alias, pause]));
  return {
    models: (models?.aliases ?? builtInAliases).map((alias) => {
      const model = models?.find(alias);
      const pause = pauseByAlias.get(alias);
      return {
        alias,
        model: model?.name ?? 'analyst',
        local: model?.entry.local ?? true,
        price: model ? (model.entry.price ?? null) : { inputPerMillion: 0, outputPerMillion: 0 },
        contextTokens: model?.entry.contextTokens ?? null,
        maxOutputTokens: model?.entry.maxOutputTokens ?? null,
        fallbacks: model?.entry.fallbacks ?? [],
        ...(model?.entry.escalateTo === undefined ? {} : { escalateTo: model.entry.escalateTo }),
        ...describeHealth(model, abilities.get(alias)),
        paused: pause ? { since: pause.since_at.toISOString(), kind: pause.kind, message: pause.message } : null,
      };
    }),
  };
}

/** Returns the latest check and misfit of an alias, unless its settings have changed since. A misfit names no data of an organization. */
function describeHealth(model: ConfiguredModel | undefined, row: AbilitiesRow | undefined) {
  if (!model || row?.fingerprint !== fingerprintOf(model.entry)) return { check: null, misfit: null };
  const { report, misfitKind: kind, misfitAt } = row;
  const misfit = kind && misfitAt ? { kind, at: misfitAt.toISOString(), remedy: remedies[kind] ?? '' } : null;
  return { check: report, misfit };
}

export const ModelList = z.object({
  models: z.array(
    z.object({
      alias: z.string(),
      model: z.string().describe('Provider and model, or `analyst`.'),
      local: z.boolean(),
      price: z
        .object({
          inputPerMillion: z.number(),
          outputPerMillion: z.number(),
          cachedInputPerMillion: z.number().optional(),
          cacheWritePerMillion: z.number().optional(),
        })
        .nullable()
        .describe('US dollars per million tokens. Null: not configured, so that the cost is unknown.'),
      contextTokens: z.int().nullable().describe('The most tokens of a prompt and its answer together.'),
      maxOutputTokens: z.int().nullable(),
      fallbacks: z.array(z.string()).describe('The aliases that answer in this order when this one fails.'),
      escalateTo: z.string().optional().describe('The alias that decides what this one leaves undecided.'),
      check: ModelCheck.nullable().describe('The latest check with the present settings. Null: not checked.'),
      misfit: z
        .object({ kind: z.string(), at: z.string(), remedy: z.string().describe('What to change.') })
        .nullable()
        .describe(
          'The latest call since the check that failed because the model or its settings do not fit: `model_truncated`, `model_context_too_small` or `model_no_tools`. Stored at most every ten minutes.',
        ),
      paused: z.object({ since: z.string(), kind: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type ModelList = z.infer<typeof ModelList>;
