import { fieldError } from '../../../platform/lib/errors.ts';

/** The part of the model settings that validation needs. Absent if no models are configured. */
export type ModelAliases = { aliases: readonly string[] } | undefined;

/** Aliases that exist without model settings. Both are the built-in analyst as long as no model is configured. */
const builtInAliases: readonly string[] = ['default', 'analyst'];

/** Throws 400 if the model settings do not define the alias. */
export function checkModelAlias(models: ModelAliases, alias: string | undefined): void {
  const known = models?.aliases ?? builtInAliases;
  if (alias === undefined || known.includes(alias)) return;
  throw fieldError(
    '/modelAlias',
    'unknown_model_alias',
    `There is no model alias "${alias}". Known aliases: ${known.join(', ')}.`,
  );
}
