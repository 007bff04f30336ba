import type { Command } from '@commander-js/extra-typings';
import { collect, examples, type Run } from '../declare-command.ts';

/** Declares the commands for organizations and API keys. */
export function addAdministrationCommands(program: Command, run: Run): void {
  const org = program.command('org').description('manage organizations');
  org
    .command('create')
    .description('create an organization')
    .argument('<NAME>', 'at most 255 characters')
    .option('--tag <TAG>', 'tag of the organization, repeatable', collect)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org create acme'))
    .action((name, options) => run(import('./org-command.ts').then((module) => module.createOrg(name, options))));
  org
    .command('list')
    .description('list the organizations')
    .option('--tag <TAG>', 'only those that have the tag')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org list --json', 'tocsin org list --tag bank'))
    .action((options) => run(import('./org-command.ts').then((module) => module.listOrgs(options))));
  org
    .command('tags')
    .description('show or change the tags of an organization, by which detection packs select it')
    .argument('<NAME>', 'organization')
    .option('--add <TAG>', 'tag to add, repeatable', collect)
    .option('--remove <TAG>', 'tag to remove, repeatable', collect)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org tags acme', 'tocsin org tags acme --add bank --remove trial'))
    .action((name, options) => run(import('./org-command.ts').then((module) => module.tagsCommand(name, options))));
  org
    .command('suspend')
    .description('refuse the requests of an organization and let its schedules wait; nothing is deleted')
    .argument('<NAME>', 'organization')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org suspend acme'))
    .action((name, options) => run(import('./org-command.ts').then((module) => module.suspendOrg(name, options))));
  org
    .command('resume')
    .description('end the suspension of an organization')
    .argument('<NAME>', 'organization')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org resume acme'))
    .action((name, options) => run(import('./org-command.ts').then((module) => module.resumeOrg(name, options))));
  org
    .command('delete')
    .description('erase a suspended organization with everything that it has, and print what was erased')
    .argument('<NAME>', 'organization')
    .requiredOption('--confirm <NAME>', 'the name once more')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org delete acme --confirm acme'))
    .action((name, options) => run(import('./org-command.ts').then((module) => module.deleteOrg(name, options))));
  org
    .command('quotas')
    .description('show or change what an organization may use')
    .argument('<NAME>', 'organization')
    .option('--set <QUOTA=NUMBER>', 'quota to change, repeatable; none removes it', collect)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tocsin org quotas acme', 'tocsin org quotas acme --set enabledDetections=200 --set apiKeys=none'),
    )
    .action((name, options) =>
      run(import('./org-limits-command.ts').then((module) => module.quotasCommand(name, options))),
    );
  org
    .command('retention')
    .description('show or change how long an organization may keep its data')
    .argument('<NAME>', 'organization')
    .option('--set <KIND=DAYS>', 'maximum to change, repeatable; none is the setting of the service', collect)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org retention acme', 'tocsin org retention acme --set logsDays=365'))
    .action((name, options) =>
      run(import('./org-limits-command.ts').then((module) => module.retentionCommand(name, options))),
    );
  org
    .command('usage')
    .description('print what an organization used by UTC day, or what all of them did')
    .argument('[NAME]', 'organization; default: all of them')
    .option('--days <N>', 'number of days until today', '30')
    .option('--json', 'print lines of JSON')
    .addHelpText('after', examples('tocsin org usage acme --days 7', 'tocsin org usage --days 31 > usage.csv'))
    .action((name, options) =>
      run(import('./org-limits-command.ts').then((module) => module.usageCommand(name, options))),
    );
  org
    .command('erasures')
    .description('list the deleted organizations with what was erased')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin org erasures'))
    .action((options) => run(import('./org-command.ts').then((module) => module.listErased(options))));
  const key = program.command('key').description('manage API keys');
  key
    .command('create')
    .description('create an API key, which is printed once')
    .requiredOption('--org <NAME>', 'organization of the key')
    .requiredOption('--name <NAME>', 'name of the key')
    .option('--scope <SCOPE>', 'what the key may do, repeatable; default: everything', collect)
    .option('--expires <DATE>', 'a date such as 2027-01-31; default: never')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tocsin key create --org acme --name console',
        'tocsin key create --org acme --name shipper --scope logs:write --expires 2027-01-31',
      ),
    )
    .action((options) => run(import('./key-command.ts').then((module) => module.createKeyCommand(options))));
  key
    .command('list')
    .description('list the API keys of an organization')
    .option('--org <NAME>', 'organization', 'default')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin key list --org acme'))
    .action((options) => run(import('./key-command.ts').then((module) => module.listKeysCommand(options))));
  key
    .command('revoke')
    .description('revoke an API key')
    .argument('<ID>', 'ID of the key, from tocsin key list')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin key revoke 5f1c0a9b2d3e4f60'))
    .action((id, options) => run(import('./key-command.ts').then((module) => module.revokeKeyCommand(id, options))));
  addAuditCommands(program, run);
}

function addAuditCommands(program: Command, run: Run): void {
  program
    .command('audit')
    .description('check the audit log')
    .command('verify')
    .description('check that no audit entry was changed, deleted, reordered or added; exit code 1 if one was')
    .option('--org <NAME>', 'organization; default: all of them')
    .option(
      '--head <SEQUENCE:HASH>',
      'head that an earlier check of the organization printed and the log must still contain',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin audit verify', 'tocsin audit verify --org acme --json'))
    .action((options) => run(import('./audit-command.ts').then((module) => module.verifyAuditCommand(options))));
}

/** Declares the commands that back up and restore an installation, and change its key. */
export function addBackupCommands(program: Command, run: Run): void {
  program
    .command('backup')
    .description('back up the database and the logs as of one moment, while the service runs')
    .argument('<TARGET>', 'a file, or s3://BUCKET/OBJECT with the parameters region and endpoint')
    .option('--logs <HOW>', 'copy the log files, or only list them; default: copy from a folder, list a bucket')
    .option('--verify', 'read the backup afterwards and check it')
    .option('--json', 'print JSON, with the checksum of every table')
    .addHelpText(
      'after',
      examples(
        'tocsin backup tocsin.backup --verify',
        'TOCSIN_BACKUP_PASSPHRASE=… tocsin backup "s3://backups/tocsin.backup?region=eu-central-1"',
      ),
    )
    .action((target, options) =>
      run(import('./backup-command.ts').then((module) => module.backupCommand(target, options))),
    );
  program
    .command('restore')
    .description('restore a backup into an empty installation, and migrate it to this version')
    .argument('<SOURCE>', 'a file, or s3://BUCKET/OBJECT with the parameters region and endpoint')
    .option('--verify', 'only check that the backup is complete; restore nothing')
    .option('--accept-missing-logs', 'do without listed log files that are gone from the bucket')
    .option('--json', 'print JSON, with the checksum of every table')
    .addHelpText(
      'after',
      examples('tocsin restore tocsin.backup --verify', 'TOCSIN_DATA_DIR=/srv/restored tocsin restore tocsin.backup'),
    )
    .action((source, options) =>
      run(import('./backup-command.ts').then((module) => module.restoreCommand(source, options))),
    );
  program
    .command('rotate-key')
    .description('encrypt stored credentials with TOCSIN_SECRET_KEY that TOCSIN_SECRET_KEY_PREVIOUS encrypted')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('TOCSIN_SECRET_KEY=… TOCSIN_SECRET_KEY_PREVIOUS=… tocsin rotate-key'))
    .action((options) => run(import('./rotate-key-command.ts').then((module) => module.rotateKeyCommand(options))));
}
