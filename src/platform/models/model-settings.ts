import { z } from 'zod';
import { findSetting, type Environment, parseJsonSetting } from '../lib/settings-input.ts';
import { Alias, common, providerOf, providers, type ModelEntry } from './providers.ts';

const entries = Object.entries(providers).map(([provider, { settings }]) =>
  z.strictObject({ provider: z.literal(provider), ...common, ...settings }),
);
const Entry = z.discriminatedUnion(
  'provider',
  entries as [(typeof entries)[number]],
) as unknown as z.ZodType<ModelEntry>;

/** Model entries by alias, with secrets resolved. */
export type ModelSettings = Record<string, ModelEntry>;

const Aliases = z.record(Alias, Entry);

/** Parses TOCSIN_MODELS, which is JSON or the path of a JSON file. Throws an error that states the alias and the problem. */
export function readModelSettings(text: string | undefined, env: Environment): ModelSettings {
  if (text === undefined) return {};
  const entries = parseJsonSetting('TOCSIN_MODELS', text, Aliases);
  for (const [alias, entry] of Object.entries(entries)) checkEntry(alias, entry, entries);
  if (entries['analyst']) throw new Error('TOCSIN_MODELS: the alias "analyst" is reserved for the built-in analyst.');
  return Object.fromEntries(
    Object.entries(entries).map(([alias, entry]) => [alias, resolveSecrets(alias, entry, env)]),
  );
}

/** Checks what concerns several settings. Throws an error that states the alias and the field. */
function checkEntry(
  alias: string,
  { contextTokens, maxOutputTokens, fallbacks, escalateTo }: ModelEntry,
  all: ModelSettings,
): void {
  const reject = (field: string, problem: string): never => {
    throw new Error(`TOCSIN_MODELS: ${alias}.${field} ${problem}`);
  };
  if (maxOutputTokens >= contextTokens)
    reject('maxOutputTokens', `(${maxOutputTokens}) must be below \`contextTokens\` (${contextTokens}).`);
  const unknown = fallbacks.find((fallback) => !all[fallback]);
  if (unknown) reject('fallbacks', `lists "${unknown}", which is not an alias with a model.`);
  if (escalateTo !== undefined && (escalateTo === alias || !all[escalateTo]))
    reject('escalateTo', `is "${escalateTo}", which is not another alias with a model.`);
  if (escalateTo !== undefined && all[escalateTo]?.escalateTo !== undefined)
    reject('escalateTo', `is "${escalateTo}", which escalates itself. A case is escalated once.`);
  const cycle = findCycle(alias, all);
  if (cycle) reject('fallbacks', `lead back to the alias: ${cycle.join(' → ')}.`);
}

/** Returns the aliases from one back to itself along its fallbacks, or undefined. */
function findCycle(alias: string, all: ModelSettings): string[] | undefined {
  const seen = new Set<string>();
  const follow = (path: string[]): string[] | undefined => {
    for (const next of all[path.at(-1)!]?.fallbacks ?? []) {
      if (next === alias) return [...path, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const cycle = follow([...path, next]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  return follow([alias]);
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
  const missing = providerOf(entry).findMissing(resolved as ModelEntry);
  if (missing) throw new Error(`TOCSIN_MODELS: ${alias}: ${entry.provider} needs ${missing}.`);
  return resolved as ModelEntry;
}
