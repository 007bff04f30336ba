import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The command was called wrongly: its message is shown, exit code 2. */
export class UsageError extends Error {}

/** Reads a command's arguments. Throws a UsageError with the usage line for anything it does not know. */
export function readArgs<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  usage: string,
): { values: ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>['values']; words: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { values, words: positionals };
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message.split('. ')[0] : 'Wrong arguments'}.\nUsage: ${usage}`,
      { cause: error },
    );
  }
}
