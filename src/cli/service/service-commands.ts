import { InvalidArgumentError, Option, type Command } from '@commander-js/extra-typings';
import { workerRoles, type WorkerRole } from '../../app/worker/worker-roles.ts';
import { examples, type Run } from '../declare-command.ts';

/** Declares the commands that run, check and describe the service. */
export function addServiceCommands(program: Command, run: Run): void {
  const parts = [
    ['all', 'serve the API and run the workers, in one process (npm start)', 'PORT=9000 tocsin all'],
    ['serve', 'serve the API only', 'DATABASE_URL=postgres://tocsin@db/tocsin tocsin serve'],
    [
      'work',
      'run the workers only: runs, feeds, deliveries',
      'DATABASE_URL=postgres://tocsin@db/tocsin TOCSIN_DATA_DIR=/srv/tocsin tocsin work',
      'TOCSIN_WORKER_PORT=8081 tocsin work --only runs,deliver',
    ],
  ] as const;
  for (const [part, summary, ...lines] of parts) {
    const command = program
      .command(part)
      .description(summary)
      .option('--adopt-log-store', 'use this log storage from now on, because the logs of the former one are lost')
      .addHelpText('after', examples(...lines));
    if (part !== 'serve') command.addOption(onlyOption());
    command.action((options) =>
      run(import('./start-command.ts').then(({ startCommand }) => startCommand(part, options))),
    );
  }
  program
    .command('migrate')
    .description('migrate the database to this version')
    .addHelpText('after', examples('tocsin migrate'))
    .action(() => run(import('./migrate-command.ts').then(({ migrateCommand }) => migrateCommand())));
  program
    .command('doctor')
    .description('check the configuration, database, disk, clock, connections and models; exit code 1 if a check fails')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin doctor', 'tocsin doctor --json'))
    .action((options) => run(import('../doctor/doctor-command.ts').then((module) => module.doctorCommand(options))));
  program
    .command('demo')
    .description('watch detections find an intrusion, in a database of its own')
    .option('--once', 'exit after the summary')
    .option('--logs <DIR>', 'replay your own CloudTrail, JSON or NDJSON files')
    .addHelpText('after', examples('tocsin demo --once', 'tocsin demo --logs cloudtrail/'))
    .action((options) => run(import('./demo-command.ts').then(({ demoCommand }) => demoCommand(options))));
  program
    .command('mcp')
    .description('serve the tools of a running service to an MCP client, on stdin and stdout')
    .addHelpText('after', examples('TOCSIN_URL=https://tocsin.example TOCSIN_API_KEY=tcs_… tocsin mcp'))
    .action(() => run(import('./mcp-command.ts').then(({ mcpCommand }) => mcpCommand())));
  program
    .command('openapi')
    .description('generate openapi.json from the routes')
    .addHelpText('after', examples('tocsin openapi'))
    .action(() => run(import('./openapi-command.ts').then(({ openapiCommand }) => openapiCommand())));
  program
    .command('completion')
    .description('print the completion script of a shell: bash, zsh or fish')
    .argument('<SHELL>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      examples('source <(tocsin completion bash)', 'tocsin completion fish > ~/.config/fish/completions/tocsin.fish'),
    )
    .action((shell) =>
      run(import('./completion.ts').then(({ completionCommand }) => completionCommand(program, shell))),
    );
}

const onlyOption = () =>
  new Option('--only <ROLES>', `run only these workers, separated by commas: ${workerRoles.join(', ')}`).argParser(
    parseRoles,
  );

function parseRoles(text: string): WorkerRole[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !workerRoles.includes(name as WorkerRole));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is not a role. The roles are ${workerRoles.join(', ')}.`);
  return workerRoles.filter((role) => names.includes(role));
}
