import { readModelSettings } from '../../../src/platform/models/model-settings.ts';
import { createModels, type Models } from '../../../src/platform/models/models.ts';

type Entry = Record<string, unknown>;

/**
 * Creates models as the settings would define them, each backed by a stand-in that speaks the Anthropic protocol unless `entry` says otherwise. An alias has
 * a URL, or settings of its own with a `baseUrl`.
 */
export function createScriptedModels(aliases: Record<string, string | Entry>, entry: Entry = {}): Models {
  const settings = Object.entries(aliases).map(([alias, own]) => [
    alias,
    {
      provider: 'anthropic',
      model: 'stand-in',
      apiKey: 'the-model-key',
      // Faults of a stand-in are to reach the code under test at once.
      maxRetries: 0,
      price: { inputPerMillion: 10, outputPerMillion: 50 },
      ...entry,
      ...(typeof own === 'string' ? { baseUrl: own } : own),
    },
  ]);
  return createModels(readModelSettings(JSON.stringify(Object.fromEntries(settings)), {}));
}

/** Returns the delimited blocks of the first message: facts, then rows. */
export function delimitedBlocks(text: string): string[] {
  return [...text.matchAll(/<(data-[0-9a-f]+)>\n([\s\S]*?)\n<\/\1>/g)].map((match) => match[2]!);
}
