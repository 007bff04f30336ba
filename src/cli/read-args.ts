import { parseArgs, type ParseArgsConfig } from 'node:util';

/** An invalid command line. The message is printed and the exit code is 2. */
export class UsageError extends Error {}

/** Prints the result of a command, as JSON or as text. Returns exit code 0. */
export function printResult(isJson: boolean | undefined, value: unknown, text: string): number {
  console.log(isJson ? JSON.stringify(value) : text);
  return 0;
}

/** Parses a command's arguments. Throws a UsageError with the usage line for unknown ones. */
export function readArgs<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  usage: string,
): { values: ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>['values']; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { values, positionals };
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message.split('. ')[0] : 'Invalid arguments'}.\nUsage: ${usage}`,
      { cause: error },
    );
  }
}
