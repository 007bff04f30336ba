import { InvalidArgumentError } from '@commander-js/extra-typings';
import { workerRoles, type WorkerRole } from '../app/worker-roles.ts';
import { command, json, type CommandRow } from './declare-command.ts';

const adoptLogStore = [
  '--adopt-log-store',
  'use this log storage from now on, because the logs of the former one are lost',
] as const;
const onlyRoles = [
  '--only <ROLES>',
  `run only these workers, separated by commas: ${workerRoles.join(', ')}`,
  parseRoles,
] as const;

async function loadStart(part: 'all' | 'serve' | 'work') {
  const { startCommand } = await import('./service/start-command.ts');
  return (options: Parameters<typeof startCommand>[1]) => startCommand(part, options);
}

/** The commands that run, check and describe the service. */
export const serviceCommands: readonly CommandRow[] = [
  command('all', 'serve the API and run the workers, in one process (npm start)', {
    options: [adoptLogStore, onlyRoles],
    examples: ['PORT=9000 tocsin all'],
    load: () => loadStart('all'),
  }),
  command('serve', 'serve the API only', {
    options: [adoptLogStore],
    examples: ['DATABASE_URL=postgres://tocsin@db/tocsin tocsin serve'],
    load: () => loadStart('serve'),
  }),
  command('work', 'run the workers only: runs, feeds, deliveries', {
    options: [adoptLogStore, onlyRoles],
    examples: [
      'DATABASE_URL=postgres://tocsin@db/tocsin TOCSIN_DATA_DIR=/srv/tocsin tocsin work',
      'TOCSIN_WORKER_PORT=8081 tocsin work --only runs,deliver',
    ],
    load: () => loadStart('work'),
  }),
  command('migrate', 'migrate the database to this version', {
    examples: ['tocsin migrate'],
    load: async () => (await import('./administration/database-command.ts')).migrateCommand,
  }),
  command(
    'doctor',
    'check the configuration, database, disk, clock, connections and models; exit code 1 if a check fails',
    {
      options: [json],
      examples: ['tocsin doctor', 'tocsin doctor --json'],
      load: async () => (await import('./service/doctor-command.ts')).doctorCommand,
    },
  ),
  command('demo', 'watch detections find an intrusion, in a database of its own', {
    options: [
      ['--once', 'exit after the summary'],
      ['--logs <DIR>', 'replay your own CloudTrail, JSON or NDJSON files'],
    ],
    examples: ['tocsin demo --once', 'tocsin demo --logs cloudtrail/'],
    load: async () => (await import('./service/demo-command.ts')).demoCommand,
  }),
  command('mcp', 'serve the tools of a running service to an MCP client, on stdin and stdout', {
    examples: ['TOCSIN_URL=https://tocsin.example TOCSIN_API_KEY=tcs_… tocsin mcp'],
    load: async () => (await import('./service/mcp-command.ts')).mcpCommand,
  }),
  command('openapi', 'generate openapi.json from the routes', {
    examples: ['tocsin openapi'],
    load: async () => (await import('./service/openapi-command.ts')).openapiCommand,
  }),
];

function parseRoles(text: string): WorkerRole[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !workerRoles.includes(name as WorkerRole));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is not a role. The roles are ${workerRoles.join(', ')}.`);
  return workerRoles.filter((role) => names.includes(role));
}
