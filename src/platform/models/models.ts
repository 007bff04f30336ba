import type { ModelCall } from './model-call.ts';
import type { ModelEntry, ModelSettings } from './model-settings.ts';

/** A model behind an alias. `name` is provider and model, as a run keeps it; it names no secret. */
export type ModelRef = { alias: string; name: string; entry: ModelEntry; call: ModelCall };

export type Models = {
  /** Every alias that a detection may name, `default` and `analyst` first. */
  aliases: readonly string[];
  /** Undefined for what is no model: `analyst`, and `default` while nothing is configured under that name. */
  find: (alias: string) => ModelRef | undefined;
  /** What a run keeps as its model, by alias. */
  names: Readonly<Record<string, string>>;
  /** Detection runs at the same time, by alias. */
  places: Readonly<Record<string, number>>;
};

export const builtInAliases: readonly string[] = ['default', 'analyst'];

/** Every configured model. The client of a provider is loaded at its first call: a second and 60 MB that others need not spend. */
export function createModels(settings: ModelSettings): Models {
  const refs = new Map(Object.entries(settings).map(([alias, entry]) => [alias, modelRef(alias, entry)]));
  return {
    aliases: [...new Set([...builtInAliases, ...refs.keys()])],
    find: (alias) => refs.get(alias),
    names: Object.fromEntries([...refs].map(([alias, { name }]) => [alias, name])),
    places: Object.fromEntries(Object.entries(settings).map(([alias, entry]) => [alias, entry.runsAtOnce])),
  };
}

function modelRef(alias: string, entry: ModelEntry): ModelRef {
  const name = `${entry.provider}/${entry.model}`;
  let ready: Promise<ModelCall> | undefined;
  return { alias, name, entry, call: async (request) => (await (ready ??= load(name, entry)))(request) };
}

async function load(name: string, entry: ModelEntry): Promise<ModelCall> {
  const [{ createCall }, { languageModelOf }] = await Promise.all([
    import('./model-call.ts'),
    import('./providers.ts'),
  ]);
  return createCall(name, entry, await languageModelOf(entry));
}

/** What a call cost by the settings, in US dollars. */
export function costOf({ entry }: Pick<ModelRef, 'entry'>, tokens: { input: number; output: number }): number {
  const { inputPerMillion, outputPerMillion } = entry.price;
  return (tokens.input * inputPerMillion + tokens.output * outputPerMillion) / 1e6;
}
