import { command, json, type CommandRow } from './declare-command.ts';

const paths = ['<PATH...>', 'files and folders'] as const;
const folder = ['<DIR>', 'folder of the files'] as const;
const place = ['<PLACE>', 'folder of the pack, or the address of a Git repository, with #BRANCH'] as const;
const onlyOrganization = ['--org <NAME>', 'only this organization, repeatable', 'repeatable'] as const;
const dryRun = ['--dry-run', 'change nothing'] as const;
const ruleSource = ['<NAME>', 'name or ID of the rule source'] as const;
const ruleLevel = ['--level <LEVEL>', 'import rules of this level and above'] as const;
const ruleStatus = ['--status <STATUS>', 'import rules of this status, repeatable', 'repeatable'] as const;

/** The commands for detections: the shipped ones, Sigma rules, files and packs. */
export const detectionCommands: readonly CommandRow[] = [
  command('library list', 'list the shipped detections', {
    options: [['--ready', 'only those whose logs are present'], json],
    examples: ['tocsin library list --ready'],
    load: async () => (await import('./detections/library-command.ts')).listLibrary,
  }),
  command('library install', 'install shipped detections; exit code 1 if one fails', {
    args: [['[ID...]', 'IDs of the detections, or --ready']],
    options: [
      ['--ready', 'all whose logs are present'],
      ['--dataset <NAME=YOURS>', 'name of a dataset in the service, repeatable', 'repeatable'],
      ['--connection <NAME>', 'connection whose SIEM the detections query'],
      dryRun,
    ],
    examples: [
      'tocsin library install windows-dcsync --connection Elastic',
      'tocsin library install --ready --dry-run',
      'tocsin library install windows-dcsync --dataset windows=edr',
    ],
    load: async () => (await import('./detections/library-command.ts')).installLibrary,
  }),
  command(
    'library update',
    'update installed detections to the shipped version and keep your edits; exit code 1 if one fails',
    {
      args: [['[ID...]', 'IDs of the detections; default: all installed ones']],
      options: [dryRun],
      examples: ['tocsin library update --dry-run'],
      load: async () => (await import('./detections/library-command.ts')).updateLibrary,
    },
  ),
  command('sigma check', 'report the rules that cannot be converted; exit code 1 if there is one', {
    args: [paths],
    options: [
      ['--to <KIND>', 'query language', { default: 'local' }],
      ['--mappings <DIR>', 'folder of log source mappings, repeatable', 'repeatable'],
      ['--allow-unknown', 'convert rules of unknown log sources'],
    ],
    examples: ['tocsin sigma check rules/', 'tocsin sigma check rules/ --to splunk'],
    load: async () => (await import('./detections/sigma-command.ts')).checkSigma,
  }),
  command('sigma convert', 'print the queries of rules', {
    args: [paths],
    options: [
      ['--to <KIND>', 'query language', { default: 'local' }],
      ['--time-column <NAME>', 'column with the time of an event'],
      ['--mappings <DIR>', 'folder of log source mappings, repeatable', 'repeatable'],
      ['--allow-unknown', 'convert rules of unknown log sources'],
      json,
    ],
    examples: ['tocsin sigma convert rules/ --to postgres --time-column at'],
    load: async () => (await import('./detections/sigma-command.ts')).convertSigma,
  }),
  command('sigma import', 'make or update detections of a service; exit code 1 if one fails', {
    args: [paths],
    options: [
      ['--target <CONNECTION>', 'SIEM connection of the detections; default: the embedded log store'],
      ['--enable', 'enable new detections'],
      ['--slots-only', 'match events at slots only, not when they arrive'],
      ['--allow-unknown', 'import rules of unknown log sources'],
      ['--complete', 'the files are all rules: list the detections of rules that they no longer have'],
      dryRun,
    ],
    examples: ['tocsin sigma import rules/ --dry-run'],
    load: async () => (await import('./detections/sigma-command.ts')).importSigma,
  }),
  command('rule-sources list', 'list the rule sources of a service, and the packages that can be added', {
    options: [json],
    examples: ['tocsin rule-sources list'],
    load: async () => (await import('./detections/rule-sources-command.ts')).listRuleSourcesCommand,
  }),
  command('rule-sources add', 'add a rule source and print what it would import', {
    args: [['<ADDRESS>', 'address of an archive or a YAML file, or a package such as sigmahq:core']],
    options: [['--name <NAME>', 'default: the address'], ruleLevel, ruleStatus, json],
    examples: [
      'tocsin rule-sources add sigmahq:core',
      'tocsin rule-sources add https://example.com/rules.zip --name Ours --level low',
    ],
    load: async () => (await import('./detections/rule-sources-command.ts')).addRuleSource,
  }),
  command('rule-sources check', 'look for new versions; exit code 1 if an address cannot be read', {
    args: [['[NAME...]', 'names or IDs; default: all']],
    options: [json],
    examples: ['tocsin rule-sources check'],
    load: async () => (await import('./detections/rule-sources-command.ts')).checkRuleSourcesCommand,
  }),
  command('rule-sources apply', 'import the newest version of a rule source; exit code 1 if a rule fails', {
    args: [ruleSource],
    options: [
      ruleLevel,
      ruleStatus,
      ['--remove-missing', 'delete the detections of rules that the set no longer has'],
      dryRun,
      json,
    ],
    examples: ['tocsin rule-sources apply sigmahq:core --dry-run', 'tocsin rule-sources apply Ours --level medium'],
    load: async () => (await import('./detections/rule-sources-command.ts')).applyRuleSource,
  }),
  command('rule-sources remove', 'delete a rule source; its detections stay', {
    args: [ruleSource],
    options: [json],
    examples: ['tocsin rule-sources remove Ours'],
    load: async () => (await import('./detections/rule-sources-command.ts')).removeRuleSourceCommand,
  }),
  command(
    'pull',
    'write the detections of a service to files; exit code 1 if a file was kept because both sides changed',
    {
      args: [folder],
      options: [['--force', 'overwrite files that changed on both sides']],
      examples: ['tocsin pull detections'],
      load: async () => (await import('./detections/as-code-command.ts')).pullCommand,
    },
  ),
  command('plan', 'show what apply would change; exit code 1 if there are conflicts', {
    args: [folder],
    options: [
      ['--prune', 'also delete detections without a file'],
      ['--force', 'let the files win conflicts'],
      ['--check', 'exit code 3 if there are changes'],
    ],
    examples: ['tocsin plan detections --check'],
    load: async () => (await import('./detections/as-code-command.ts')).planCommand,
  }),
  command('apply', 'change a service to match the files', {
    args: [folder],
    options: [
      dryRun,
      ['--prune', 'also delete detections without a file'],
      ['--force', 'let the files win conflicts'],
      ['--validate', 'check every query on its SIEM first'],
    ],
    examples: ['tocsin apply detections --dry-run', 'tocsin apply detections --validate'],
    load: async () => (await import('./detections/as-code-command.ts')).applyCommand,
  }),
  command('test', 'run the test cases in the files, without a service; exit code 1 if one fails', {
    args: [folder],
    options: [['--junit <FILE>', 'also write a JUnit report']],
    examples: ['tocsin test detections --junit junit.xml'],
    load: async () => (await import('./detections/test-command.ts')).testCommand,
  }),
  command('skills list', 'list the skills of a service', {
    options: [json],
    examples: ['tocsin skills list'],
    load: async () => (await import('./detections/skills-command.ts')).listSkillsCommand,
  }),
  command('skills import', 'store skills in a service, each as a new version if it differs', {
    args: [['<PLACE...>', 'folders with SKILL.md, and zip archives of such folders']],
    options: [json],
    examples: ['tocsin skills import skills/phishing', 'tocsin skills import phishing.zip'],
    load: async () => (await import('./detections/skills-command.ts')).importSkills,
  }),
  command('skills export', 'write a skill to a folder of its name, or to a zip archive', {
    args: [
      ['<NAME>', 'name of the skill'],
      ['<TARGET>', 'folder that gets the folder of the skill, or a file that ends with .zip'],
    ],
    options: [['--force', 'overwrite files that exist']],
    examples: ['tocsin skills export triage-of-a-sign-in skills', 'tocsin skills export phishing phishing.zip'],
    load: async () => (await import('./detections/skills-command.ts')).exportSkillCommand,
  }),
  command('agents list', 'list the response agents of a service, and those that ship with it', {
    options: [json],
    examples: ['tocsin agents list'],
    load: async () => (await import('./detections/agents-command.ts')).listAgentsCommand,
  }),
  command('agents add', 'add a shipped response agent, which then runs for new hits', {
    args: [['<NAME>', 'such as triage']],
    options: [
      ['--model <ALIAS>', 'model alias that investigates; default: default'],
      ['--severity <LEVEL>', 'only hits of this severity or above'],
      ['--runs-per-hour <N>', 'how many runs it may start in an hour'],
      ['--disabled', 'add it without enabling its triggers'],
      json,
    ],
    examples: ['tocsin agents add triage --severity medium --runs-per-hour 30'],
    load: async () => (await import('./detections/agents-command.ts')).addAgentCommand,
  }),
  command('agents update', 'update added agents to the shipped version and keep your edits', {
    args: [['[NAME...]', 'default: all that were added']],
    options: [json],
    examples: ['tocsin agents update'],
    load: async () => (await import('./detections/agents-command.ts')).updateAgentsCommand,
  }),
  command('agents run', 'run a response agent now and print what it found; exit code 1 if the run does not complete', {
    args: [['<AGENT>', 'name or ID of the agent']],
    options: [
      ['--hit <ID>', 'hit that it looks into'],
      ['--incident <ID>', 'incident whose story it writes'],
      ['--question <TEXT>', 'what it should find out'],
      ['--input <NAME=VALUE>', 'value of an input, repeatable', 'repeatable'],
      ['--wait <SECONDS>', 'how long to wait for the end; 0 only starts the run', { default: '600' }],
      json,
    ],
    examples: [
      'tocsin agents run Triage --hit 01a22835-3fa5-7252-8257-651195a53948',
      'tocsin agents run "Look into sign-ins" --input user=ada --question "Who else uses this address?"',
    ],
    load: async () => (await import('./detections/agents-command.ts')).runAgentCommand,
  }),
  command('tail', 'print hits as they are raised, until Ctrl-C', {
    options: [
      ['--detection <NAME>', 'name or ID of a detection, repeatable', 'repeatable'],
      ['--severity <LEVEL>', 'only hits of this severity and above'],
      json,
    ],
    examples: ['tocsin tail --severity high', 'tocsin tail --json | jq .headline'],
    load: async () => (await import('./detections/tail-command.ts')).tailCommand,
  }),
  command(
    'verify-bundle',
    'check the evidence bundle of an incident, without a service; exit code 1 if something in it does not hold',
    {
      args: [['<FILE>', 'zip archive of GET /api/incidents/{id}/bundle']],
      options: [json],
      examples: ['tocsin verify-bundle incident.zip'],
      load: async () => (await import('./detections/verify-bundle-command.ts')).verifyBundleCommand,
    },
  ),
  command('pack plan', 'show what apply would change in each organization', {
    args: [place],
    options: [
      onlyOrganization,
      ['--prune', 'also delete detections that the pack no longer has'],
      ['--force', 'replace what organizations changed'],
      ['--check', 'exit code 3 if there are changes'],
      json,
    ],
    examples: ['tocsin pack plan packs/baseline --check'],
    load: async () => (await import('./detections/pack-command.ts')).planPack,
  }),
  command(
    'pack apply',
    'change the detections of each organization; exit code 1 if something failed, after the rest was applied',
    {
      args: [place],
      options: [
        onlyOrganization,
        ['--prune', 'also delete detections that the pack no longer has'],
        ['--force', 'replace what organizations changed'],
        json,
      ],
      examples: ['tocsin pack apply packs/baseline', 'tocsin pack apply https://git.example/soc/baseline.git#main'],
      load: async () => (await import('./detections/pack-command.ts')).applyPackCommand,
    },
  ),
  command('pack drift', 'report how each organization differs from the pack; exit code 3 if one does', {
    args: [place],
    options: [onlyOrganization, json],
    examples: ['tocsin pack drift packs/baseline --json'],
    load: async () => (await import('./detections/pack-command.ts')).driftOfPack,
  }),
];
