import { describeFailure } from './cli/failure-text.ts';
import { UsageError } from './cli/read-args.ts';

type Command = { usage: string; run: (args: string[]) => Promise<number> };

// Commands are imported lazily, so that `--help` and commands on files start quickly.
const commands: Record<string, Command> = {
  all: {
    usage: 'all                      serve the API and run the workers, in one process (npm start)',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('all', args),
  },
  serve: {
    usage: 'serve                    serve the API only',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('serve', args),
  },
  work: {
    usage: 'work                     run the workers only: schedules, runs, feeds',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('work', args),
  },
  migrate: {
    usage: 'migrate                  migrate the database to this version',
    run: async (args) => (await import('./cli/migrate-command.ts')).migrateCommand(args),
  },
  org: {
    usage: 'org create NAME | list   manage organizations',
    run: async (args) => (await import('./cli/org-command.ts')).orgCommand(args),
  },
  key: {
    usage: 'key create | list | revoke   manage API keys',
    run: async (args) => (await import('./cli/key-command.ts')).keyCommand(args),
  },
  source: {
    usage: 'source add | create | list | pull   manage feed sources, shared by all organizations unless --private',
    run: async (args) => (await import('./cli/source-command.ts')).sourceCommand(args),
  },
  knowledge: {
    usage: 'knowledge update [--from FILE|DIR]   install the newest techniques, names, lists of harmless values',
    run: async (args) => (await import('./cli/knowledge-command.ts')).knowledgeCommand(args),
  },
  pull: {
    usage: 'pull DIR                 write the detections of a service to files',
    run: async (args) => (await import('./cli/as-code-command.ts')).pullCommand(args),
  },
  plan: {
    usage: 'plan DIR                 show what apply would change',
    run: async (args) => (await import('./cli/as-code-command.ts')).planCommand(args),
  },
  apply: {
    usage: 'apply DIR [--dry-run]    change a service to match the files',
    run: async (args) => (await import('./cli/as-code-command.ts')).applyCommand(args),
  },
  test: {
    usage: 'test DIR [--junit FILE]  run the test cases in the files, without a service',
    run: async (args) => (await import('./cli/test-command.ts')).testCommand(args),
  },
  demo: {
    usage: 'demo [--once] [--logs DIR]   watch detections find an intrusion',
    run: async (args) => (await import('./cli/demo-command.ts')).demoCommand(args),
  },
  openapi: {
    usage: 'openapi                  generate openapi.json from the routes',
    run: async (args) => (await import('./cli/openapi-command.ts')).openapiCommand(args),
  },
};

/** Runs the command line. Returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(argv: string[]): Promise<number> {
  const [name = 'help', ...args] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const text = `tocsin COMMAND\n\n${Object.values(commands)
      .map(({ usage }) => `  ${usage}`)
      .join('\n')}\n\nSettings come from the environment. README.md lists them.`;
    const isHelp = ['help', '--help', '-h'].includes(name);
    (isHelp ? console.log : console.error)(isHelp ? text : `Unknown command "${name}".\n\n${text}`);
    return isHelp ? 0 : 2;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(error.message);
      return 2;
    }
    console.error(describeFailure(error));
    return 1;
  }
}
