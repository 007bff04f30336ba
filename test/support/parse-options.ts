import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Parses the command line of a tool. Prints `usage` and exits with 0 for `--help`, and with 2 for a command line that is not valid. */
export function parseOptions<Config extends ParseArgsConfig>(
  config: Config,
  usage: string,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

/** Returns the number that an option has as text. Exits with 2 unless it is an integer of at least `min`. */
export function toCount(option: string, text: string, min = 1): number {
  const count = Number(text);
  if (text.trim() !== '' && Number.isInteger(count) && count >= min) return count;
  console.error(`--${option} ${text}: must be an integer of at least ${min}.`);
  process.exit(2);
}
