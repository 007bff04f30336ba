import { command, json, type CommandRow } from './declare-command.ts';

const organization = ['<NAME>', 'organization'] as const;

/** The commands for the data of an installation: backups, organizations, keys, the audit log, feed sources and reference data. */
export const administrationCommands: readonly CommandRow[] = [
  command('backup', 'back up the database and the logs as of one moment, while the service runs', {
    args: [['<TARGET>', 'a file, or s3://BUCKET/OBJECT with the parameters region and endpoint']],
    options: [
      ['--logs <HOW>', 'copy the log files, or only list them; default: copy from a folder, list a bucket'],
      ['--verify', 'read the backup afterwards and check it'],
      ['--json', 'print JSON, with the checksum of every table'],
    ],
    examples: [
      'tocsin backup tocsin.backup --verify',
      'TOCSIN_BACKUP_PASSPHRASE=… tocsin backup "s3://backups/tocsin.backup?region=eu-central-1"',
    ],
    load: async () => (await import('./administration/backup-command.ts')).backupCommand,
  }),
  command('restore', 'restore a backup into an empty installation, and migrate it to this version', {
    args: [['<SOURCE>', 'a file, or s3://BUCKET/OBJECT with the parameters region and endpoint']],
    options: [
      ['--verify', 'only check that the backup is complete; restore nothing'],
      ['--accept-missing-logs', 'do without listed log files that are gone from the bucket'],
      ['--json', 'print JSON, with the checksum of every table'],
    ],
    examples: ['tocsin restore tocsin.backup --verify', 'TOCSIN_DATA_DIR=/srv/restored tocsin restore tocsin.backup'],
    load: async () => (await import('./administration/backup-command.ts')).restoreCommand,
  }),
  command('rotate-key', 'encrypt stored credentials with TOCSIN_SECRET_KEY that TOCSIN_SECRET_KEY_PREVIOUS encrypted', {
    options: [json],
    examples: ['TOCSIN_SECRET_KEY=… TOCSIN_SECRET_KEY_PREVIOUS=… tocsin rotate-key'],
    load: async () => (await import('./administration/database-command.ts')).rotateKeyCommand,
  }),
  command('org create', 'create an organization', {
    args: [['<NAME>', 'at most 255 characters']],
    options: [['--tag <TAG>', 'tag of the organization, repeatable', 'repeatable'], json],
    examples: ['tocsin org create acme'],
    load: async () => (await import('./administration/org-command.ts')).createOrg,
  }),
  command('org list', 'list the organizations', {
    options: [['--tag <TAG>', 'only those that have the tag'], json],
    examples: ['tocsin org list --json', 'tocsin org list --tag bank'],
    load: async () => (await import('./administration/org-command.ts')).listOrgs,
  }),
  command('org tags', 'show or change the tags of an organization, by which detection packs select it', {
    args: [organization],
    options: [
      ['--add <TAG>', 'tag to add, repeatable', 'repeatable'],
      ['--remove <TAG>', 'tag to remove, repeatable', 'repeatable'],
      json,
    ],
    examples: ['tocsin org tags acme', 'tocsin org tags acme --add bank --remove trial'],
    load: async () => (await import('./administration/org-command.ts')).tagsCommand,
  }),
  command('org suspend', 'refuse the requests of an organization and let its schedules wait; nothing is deleted', {
    args: [organization],
    options: [json],
    examples: ['tocsin org suspend acme'],
    load: async () => (await import('./administration/org-command.ts')).suspendOrg,
  }),
  command('org resume', 'end the suspension of an organization', {
    args: [organization],
    options: [json],
    examples: ['tocsin org resume acme'],
    load: async () => (await import('./administration/org-command.ts')).resumeOrg,
  }),
  command('org delete', 'erase a suspended organization with everything that it has, and print what was erased', {
    args: [organization],
    options: [['--confirm <NAME>', 'the name once more', 'required'], json],
    examples: ['tocsin org delete acme --confirm acme'],
    load: async () => (await import('./administration/org-command.ts')).deleteOrg,
  }),
  command('org quotas', 'show or change what an organization may use', {
    args: [organization],
    options: [['--set <QUOTA=NUMBER>', 'quota to change, repeatable; none removes it', 'repeatable'], json],
    examples: ['tocsin org quotas acme', 'tocsin org quotas acme --set enabledDetections=200 --set apiKeys=none'],
    load: async () => (await import('./administration/org-limits-command.ts')).quotasCommand,
  }),
  command('org retention', 'show or change how long an organization may keep its data', {
    args: [organization],
    options: [
      ['--set <KIND=DAYS>', 'maximum to change, repeatable; none is the setting of the service', 'repeatable'],
      json,
    ],
    examples: ['tocsin org retention acme', 'tocsin org retention acme --set logsDays=365'],
    load: async () => (await import('./administration/org-limits-command.ts')).retentionCommand,
  }),
  command('org usage', 'print what an organization used by UTC day, or what all of them did', {
    args: [['[NAME]', 'organization; default: all of them']],
    options: [
      ['--days <N>', 'number of days until today', { default: '30' }],
      ['--json', 'print lines of JSON'],
    ],
    examples: ['tocsin org usage acme --days 7', 'tocsin org usage --days 31 > usage.csv'],
    load: async () => (await import('./administration/org-limits-command.ts')).usageCommand,
  }),
  command('org erasures', 'list the deleted organizations with what was erased', {
    options: [json],
    examples: ['tocsin org erasures'],
    load: async () => (await import('./administration/org-command.ts')).listErased,
  }),
  command('key create', 'create an API key, which is printed once', {
    options: [
      ['--org <NAME>', 'organization of the key', 'required'],
      ['--name <NAME>', 'name of the key', 'required'],
      ['--scope <SCOPE>', 'what the key may do, repeatable; default: everything', 'repeatable'],
      ['--expires <DATE>', 'a date such as 2027-01-31; default: never'],
      json,
    ],
    examples: [
      'tocsin key create --org acme --name console',
      'tocsin key create --org acme --name shipper --scope logs:write --expires 2027-01-31',
    ],
    load: async () => (await import('./administration/key-command.ts')).createKeyCommand,
  }),
  command('key list', 'list the API keys of an organization', {
    options: [['--org <NAME>', 'organization', { default: 'default' }], json],
    examples: ['tocsin key list --org acme'],
    load: async () => (await import('./administration/key-command.ts')).listKeysCommand,
  }),
  command('key revoke', 'revoke an API key', {
    args: [['<ID>', 'ID of the key, from tocsin key list']],
    options: [json],
    examples: ['tocsin key revoke 5f1c0a9b2d3e4f60'],
    load: async () => (await import('./administration/key-command.ts')).revokeKeyCommand,
  }),
  command(
    'audit verify',
    'check that no audit entry was changed, deleted, reordered or added; exit code 1 if one was',
    {
      options: [
        ['--org <NAME>', 'organization; default: all of them'],
        [
          '--head <SEQUENCE:HASH>',
          'head that an earlier check of the organization printed and the log must still contain',
        ],
        json,
      ],
      examples: ['tocsin audit verify', 'tocsin audit verify --org acme --json'],
      load: async () => (await import('./administration/audit-command.ts')).verifyAuditCommand,
    },
  ),
  command('source add', 'add a source from the catalog', {
    options: [
      ['--catalogue <NAME>', 'name of the source in the catalog', 'required'],
      ['--org <NAME>', 'organization that owns the source'],
      ['--private', 'visible to that organization only'],
      json,
    ],
    examples: ['tocsin source add --catalogue cisa-kev'],
    load: async () => (await import('./administration/feed-command.ts')).createSourceCommand,
  }),
  command('source create', 'create a source', {
    options: [
      ['--kind <KIND>', 'format of the source', 'required'],
      ['--name <NAME>', 'name of the source', 'required'],
      ['--url <URL>', 'address of the source, https: or file:', 'required'],
      ['--org <NAME>', 'organization that owns the source'],
      ['--private', 'visible to that organization only'],
      ['--assigned-to <ORG>', 'organization that sees the source, repeatable', 'repeatable'],
      ['--publisher <NAME>', 'publisher of the source'],
      ['--tlp <TLP>', 'Traffic Light Protocol of the items'],
      ['--schedule <CRON>', 'when to pull the source'],
      json,
    ],
    examples: [
      'tocsin source create --kind rss --name Blog --url https://blog.example/feed.xml --schedule "5 * * * *"',
    ],
    load: async () => (await import('./administration/feed-command.ts')).createSourceCommand,
  }),
  command('source list', 'list the sources', {
    options: [['--org <NAME>', 'organization that sees the sources'], json],
    examples: ['tocsin source list'],
    load: async () => (await import('./administration/feed-command.ts')).listSourcesCommand,
  }),
  command('source pull', 'pull a source now; exit code 1 if the pull fails', {
    args: [['<ID>', 'ID of the source, from tocsin source list']],
    options: [
      ['--org <NAME>', 'organization that owns the source'],
      ['--json', 'print JSON, with every skipped entry'],
    ],
    examples: ['tocsin source pull 0199c7f2-6a3e-7c11-9d5e-2f60b1a4c8d7'],
    load: async () => (await import('./administration/feed-command.ts')).pullSourceCommand,
  }),
  command('knowledge update', 'install the newest techniques, names and lists of harmless values', {
    options: [['--from <PATH>', 'file or folder with the documents; default: their official addresses'], json],
    examples: ['tocsin knowledge update', 'tocsin knowledge update --from downloads/'],
    load: async () => (await import('./administration/feed-command.ts')).knowledgeCommand,
  }),
];
