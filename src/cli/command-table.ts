import { Command, Option } from '@commander-js/extra-typings';
import { showText } from '../platform/lib/text/show-text.ts';
import { packageVersion } from '../platform/lib/program-files.ts';
import { administrationCommands } from './administration-commands.ts';
import type { CommandRow } from './declare-command.ts';
import { detectionCommands } from './detection-commands.ts';
import { serviceCommands } from './service-commands.ts';

/** Awaits the command that runs and receives its exit code. */
type Run = (work: Promise<number>) => Promise<void>;

/** The descriptions of commands that have others below them. */
const groups: Record<string, string> = {
  org: 'manage organizations',
  key: 'manage API keys',
  audit: 'check the audit log',
  source: 'manage feed sources, shared by all organizations unless --private',
  knowledge: 'manage the reference data of the feed',
  library: 'manage the shipped detections of a service',
  skills: 'bring instructions for models to a service, or write them to files',
  agents: 'add the response agents that ship with a service, list and run its agents',
  'rule-sources': 'bring sets of Sigma rules from an address to a service, and keep them up to date',
  sigma: 'check Sigma rules, print their queries, or make detections of them',
  pack: 'bring one set of detections to many organizations, with the key of the installation',
};

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
  for (const row of [...serviceCommands, ...administrationCommands, ...detectionCommands])
    addCommand(program, row, run);
  describeUsageErrors(program);
  return program;
}

function addCommand(program: Command, row: CommandRow, run: Run): void {
  const { name, description, args, options, examples } = row;
  const [first = '', second] = name.split(' ');
  const command = second === undefined ? program.command(first) : findGroup(program, first).command(second);
  command.description(description);
  for (const [usage, text] of args) command.argument(usage, text);
  for (const option of options) command.addOption(toOption(option));
  const title = examples.length === 1 ? 'Example' : 'Examples';
  command.addHelpText('after', `\n${title}:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
  // The parser passes the arguments, the options and this command.
  command.action((...input: unknown[]) => run(runRow(row, [...input.slice(0, -1), program])));
}

async function runRow({ load }: CommandRow, input: readonly unknown[]): Promise<number> {
  // `command` has checked the type of the function.
  const handle = (await load()) as (...input: readonly unknown[]) => Promise<number>;
  return handle(...input);
}

const findGroup = (program: Command, name: string): Command =>
  (program.commands as readonly Command[]).find((one) => one.name() === name) ??
  (program.command(name).description(groups[name]!) as Command);

function toOption([usage, description, rule]: CommandRow['options'][number]): Option {
  const option = new Option(usage, description);
  if (rule === 'required') option.makeOptionMandatory();
  else if (rule === 'repeatable') option.argParser((value, previous: string[] = []) => [...previous, value]);
  else if (typeof rule === 'function') option.argParser(rule);
  else if (rule) option.default(rule.default);
  return option;
}

/** Lets every command end its usage errors with its usage line. */
function describeUsageErrors(command: Command, path = ''): void {
  const name = `${path}${command.name()}`;
  command.showHelpAfterError(`Usage: ${name} ${command.usage()}\nHelp:  ${name} --help`);
  for (const child of command.commands) describeUsageErrors(child as Command, `${name} `);
}
