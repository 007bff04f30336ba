import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from './declare.ts';

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
      run(import('../backup-command.ts').then((module) => module.backupCommand(target, options))),
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
      run(import('../backup-command.ts').then((module) => module.restoreCommand(source, options))),
    );
  program
    .command('rotate-key')
    .description('encrypt stored credentials with TOCSIN_SECRET_KEY that TOCSIN_SECRET_KEY_PREVIOUS encrypted')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('TOCSIN_SECRET_KEY=… TOCSIN_SECRET_KEY_PREVIOUS=… tocsin rotate-key'))
    .action((options) => run(import('../rotate-key-command.ts').then((module) => module.rotateKeyCommand(options))));
}
