import { CommanderError } from '@commander-js/extra-typings';
import { createCommandTable } from './cli/command-table.ts';
import { describeFailure, UsageError } from './cli/support/failures.ts';
import { printError } from './cli/support/output.ts';

/** Runs the command line. Returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(argv: string[]): Promise<number> {
  let exitCode = 0;
  const program = createCommandTable(async (work) => {
    exitCode = await work;
  });
  try {
    await program.parseAsync(argv.length === 0 ? ['help'] : argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The parser has printed its message. Help and version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    printError(error instanceof UsageError ? error.message : describeFailure(error));
    return error instanceof UsageError ? 2 : 1;
  }
}
