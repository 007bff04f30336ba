import { failureText } from './cli/failure-text.ts';
import { UsageError } from './cli/read-args.ts';

type Command = { line: string; run: (args: string[]) => Promise<number> };

// Each command loads what it needs and no more: `--help` and those that work on files start in no time.
const commands: Record<string, Command> = {
  all: {
    line: 'all                      serve the API and do the work, in one process (npm start)',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('all', args),
  },
  serve: {
    line: 'serve                    serve the API only',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('serve', args),
  },
  work: {
    line: 'work                     do the work only: schedules, runs, feeds',
    run: async (args) => (await import('./cli/start-command.ts')).startCommand('work', args),
  },
  migrate: {
    line: 'migrate                  bring the database to this version',
    run: async (args) => (await import('./cli/migrate-command.ts')).migrateCommand(args),
  },
  org: {
    line: 'org create NAME | list   organizations',
    run: async (args) => (await import('./cli/org-command.ts')).orgCommand(args),
  },
  key: {
    line: 'key create | list | revoke   API keys',
    run: async (args) => (await import('./cli/key-command.ts')).keyCommand(args),
  },
  source: {
    line: 'source add | create | list | pull   feed sources, shared by all organizations unless --private',
    run: async (args) => (await import('./cli/source-command.ts')).sourceCommand(args),
  },
  knowledge: {
    line: 'knowledge update [--from FILE|DIR]   take the newest techniques, names, lists of harmless values',
    run: async (args) => (await import('./cli/knowledge-command.ts')).knowledgeCommand(args),
  },
  pull: {
    line: 'pull DIR                 write the detections of a service into files',
    run: async (args) => (await import('./cli/as-code-command.ts')).pullCommand(args),
  },
  plan: {
    line: 'plan DIR                 what apply would change',
    run: async (args) => (await import('./cli/as-code-command.ts')).planCommand(args),
  },
  apply: {
    line: 'apply DIR [--dry-run]    bring a service to what the files say',
    run: async (args) => (await import('./cli/as-code-command.ts')).applyCommand(args),
  },
  test: {
    line: 'test DIR [--junit FILE]  run the test cases of the files, without a service',
    run: async (args) => (await import('./cli/test-command.ts')).testCommand(args),
  },
  demo: {
    line: 'demo [--once] [--logs DIR]   watch detections find an intrusion',
    run: async (args) => (await import('./cli/demo-command.ts')).demoCommand(args),
  },
  openapi: {
    line: 'openapi                  write openapi.json from the routes',
    run: async (args) => (await import('./cli/openapi-command.ts')).openapiCommand(args),
  },
};

/** The command line. Answers the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function main(argv: string[]): Promise<number> {
  const [name = 'help', ...args] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const text = `tocsin COMMAND\n\n${Object.values(commands)
      .map(({ line }) => `  ${line}`)
      .join('\n')}\n\nSettings come from the environment; README.md lists them.`;
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
    console.error(failureText(error));
    return 1;
  }
}
