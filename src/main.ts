import { applyCommand, planCommand, pullCommand } from './commands/as-code.ts';
import { demoCommand } from './commands/demo.ts';
import { keyCommand } from './commands/key.ts';
import { openapiCommand } from './commands/openapi.ts';
import { orgCommand } from './commands/org.ts';
import { startCommand } from './commands/start.ts';
import { migrateCommand } from './commands/migrate.ts';
import { sourceCommand } from './commands/source.ts';
import { UsageError } from './commands/usage.ts';
import { AppError } from './lib/errors.ts';

type Command = { line: string; run: (args: string[]) => Promise<number> };

const commands: Record<string, Command> = {
  all: {
    line: 'all                      serve the API and do the work, in one process (npm start)',
    run: (args) => startCommand('all', args),
  },
  serve: { line: 'serve                    serve the API only', run: (args) => startCommand('serve', args) },
  work: {
    line: 'work                     do the work only: schedules, runs, feeds',
    run: (args) => startCommand('work', args),
  },
  migrate: { line: 'migrate                  bring the database to this version', run: migrateCommand },
  org: { line: 'org create NAME | list   organizations', run: orgCommand },
  key: { line: 'key create | list | revoke   API keys', run: keyCommand },
  source: {
    line: 'source create | list | pull   feed sources, shared by all organizations unless --private',
    run: sourceCommand,
  },
  pull: { line: 'pull DIR                 write the detections of a service into files', run: pullCommand },
  plan: { line: 'plan DIR                 what apply would change', run: planCommand },
  apply: { line: 'apply DIR [--dry-run]    bring a service to what the files say', run: applyCommand },
  demo: { line: 'demo [--once] [--logs DIR]   watch detections find an intrusion', run: demoCommand },
  openapi: { line: 'openapi                  write openapi.json from the routes', run: openapiCommand },
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
    console.error(error instanceof Error ? error.message : String(error));
    if (error instanceof AppError && error.errors)
      for (const { pointer, detail } of error.errors) console.error(`  ${pointer}: ${detail}`);
    return 1;
  }
}
