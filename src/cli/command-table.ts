import { Command } from '@commander-js/extra-typings';
import { showText } from '../platform/lib/text/show-text.ts';
import { packageVersion } from '../platform/lib/program-files.ts';
import { addAdministrationCommands, addBackupCommands } from './administration/administration-commands.ts';
import type { Run } from './declare-command.ts';
import { addFolderCommands, addLibraryCommands, addSigmaCommands } from './detections/detection-commands.ts';
import { addPackCommands } from './detections/pack-commands.ts';
import { addFeedCommands } from './feed/feed-commands.ts';
import { addServiceCommands } from './service/service-commands.ts';

/**
 * Returns the command line: every command with its arguments, options and examples. `run` receives the exit code of the command that
 * ran. Commands are imported when they run, so that help and commands on files start quickly.
 */
export function createCommandTable(run: Run): Command {
  const program: Command = new Command('tocsin');
  program
    .description('Runs detection agents over your logs and fills a threat-intelligence feed beside them.')
    .version(packageVersion, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [COMMAND]', 'print the help of a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void process.stdout.write(showText(text)),
      writeErr: (text) => void process.stderr.write(showText(text)),
    })
    .addHelpText(
      'after',
      '\nSettings come from the environment and from .env. docs/reference/settings.md lists them.\nExit codes: 0 success, 1 failure, 2 wrong usage, 3 differences (plan --check, pack).',
    );
  addServiceCommands(program, run);
  addBackupCommands(program, run);
  addAdministrationCommands(program, run);
  addFeedCommands(program, run);
  addLibraryCommands(program, run);
  addSigmaCommands(program, run);
  addFolderCommands(program, run);
  addPackCommands(program, run);
  describeUsageErrors(program);
  return program;
}

/** Lets every command end its usage errors with its usage line. */
function describeUsageErrors(command: Command, path = ''): void {
  const name = `${path}${command.name()}`;
  command.showHelpAfterError(`Usage: ${name} ${command.usage()}\nHelp:  ${name} --help`);
  for (const child of command.commands) describeUsageErrors(child as Command, `${name} `);
}
