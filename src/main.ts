import { describeFailure } from './cli/failure-text.ts';
import { UsageError } from './cli/read-args.ts';

const usage = `tocsin COMMAND

  all                      serve the API and run the workers, in one process (npm start)
  serve                    serve the API only
  work                     run the workers only: schedules, runs, feeds
  migrate                  migrate the database to this version
  org create NAME | list   manage organizations
  key create | list | revoke   manage API keys
  source add | create | list | pull   manage feed sources, shared by all organizations unless --private
  knowledge update [--from FILE|DIR]   install the newest techniques, names, lists of harmless values
  library list | install | update   manage the shipped detections of a service
  sigma check | convert | import FOLDER…   check Sigma rules, print their queries, or make detections of them
  pull DIR                 write the detections of a service to files
  plan DIR                 show what apply would change
  apply DIR [--dry-run]    change a service to match the files
  test DIR [--junit FILE]  run the test cases in the files, without a service
  demo [--once] [--logs DIR]   watch detections find an intrusion
  openapi                  generate openapi.json from the routes

Settings come from the environment. docs/reference/settings.md lists them.`;

// Commands are imported lazily, so that `--help` and commands on files start quickly.
const commands: Record<string, (args: string[]) => Promise<number>> = {
  all: async (args) => (await import('./cli/start-command.ts')).startCommand('all', args),
  serve: async (args) => (await import('./cli/start-command.ts')).startCommand('serve', args),
  work: async (args) => (await import('./cli/start-command.ts')).startCommand('work', args),
  migrate: async (args) => (await import('./cli/migrate-command.ts')).migrateCommand(args),
  org: async (args) => (await import('./cli/org-command.ts')).orgCommand(args),
  key: async (args) => (await import('./cli/key-command.ts')).keyCommand(args),
  source: async (args) => (await import('./cli/source-command.ts')).sourceCommand(args),
  knowledge: async (args) => (await import('./cli/knowledge-command.ts')).knowledgeCommand(args),
  library: async (args) => (await import('./cli/library-command.ts')).libraryCommand(args),
  sigma: async (args) => (await import('./cli/sigma-command.ts')).sigmaCommand(args),
  pull: async (args) => (await import('./cli/as-code-command.ts')).pullCommand(args),
  plan: async (args) => (await import('./cli/as-code-command.ts')).planCommand(args),
  apply: async (args) => (await import('./cli/as-code-command.ts')).applyCommand(args),
  test: async (args) => (await import('./cli/test-command.ts')).testCommand(args),
  demo: async (args) => (await import('./cli/demo-command.ts')).demoCommand(args),
  openapi: async (args) => (await import('./cli/openapi-command.ts')).openapiCommand(args),
};

/** Runs the command line. Returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(argv: string[]): Promise<number> {
  const [name = 'help', ...args] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const isHelp = ['help', '--help', '-h'].includes(name);
    (isHelp ? console.log : console.error)(isHelp ? usage : `Unknown command "${name}".\n\n${usage}`);
    return isHelp ? 0 : 2;
  }
  try {
    return await command(args);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(error.message);
      return 2;
    }
    console.error(describeFailure(error));
    return 1;
  }
}
