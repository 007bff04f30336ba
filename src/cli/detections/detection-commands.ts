import type { Command } from '@commander-js/extra-typings';
import { collect, examples, type Run } from '../declare-command.ts';

/** Declares the commands for the shipped detections. */
export function addLibraryCommands(program: Command, run: Run): void {
  const library = program.command('library').description('manage the shipped detections of a service');
  library
    .command('list')
    .description('list the shipped detections')
    .option('--ready', 'only those whose logs are present')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin library list --ready'))
    .action((options) => run(import('./library-command.ts').then((module) => module.listLibrary(options))));
  library
    .command('install')
    .description('install shipped detections; exit code 1 if one fails')
    .argument('[ID...]', 'IDs of the detections, or --ready')
    .option('--ready', 'all whose logs are present')
    .option('--dataset <NAME=YOURS>', 'name of a dataset in the service, repeatable', collect)
    .option('--connection <NAME>', 'connection whose SIEM the detections query')
    .option('--dry-run', 'change nothing')
    .addHelpText(
      'after',
      examples(
        'tocsin library install windows-dcsync --connection Elastic',
        'tocsin library install --ready --dry-run',
        'tocsin library install windows-dcsync --dataset windows=edr',
      ),
    )
    .action((ids, options) =>
      run(import('./library-command.ts').then((module) => module.installLibrary(ids, options))),
    );
  library
    .command('update')
    .description('update installed detections to the shipped version and keep your edits; exit code 1 if one fails')
    .argument('[ID...]', 'IDs of the detections; default: all installed ones')
    .option('--dry-run', 'change nothing')
    .addHelpText('after', examples('tocsin library update --dry-run'))
    .action((ids, options) => run(import('./library-command.ts').then((module) => module.updateLibrary(ids, options))));
}

/** Declares the commands for Sigma rules. */
export function addSigmaCommands(program: Command, run: Run): void {
  const sigma = program
    .command('sigma')
    .description('check Sigma rules, print their queries, or make detections of them');
  sigma
    .command('check')
    .description('report the rules that cannot be converted; exit code 1 if there is one')
    .argument('<PATH...>', 'files and folders')
    .option('--to <KIND>', 'query language', 'local')
    .option('--mappings <DIR>', 'folder of log source mappings, repeatable', collect)
    .option('--allow-unknown', 'convert rules of unknown log sources')
    .addHelpText('after', examples('tocsin sigma check rules/', 'tocsin sigma check rules/ --to splunk'))
    .action((paths, options) => run(import('./sigma-command.ts').then((module) => module.checkSigma(paths, options))));
  sigma
    .command('convert')
    .description('print the queries of rules')
    .argument('<PATH...>', 'files and folders')
    .option('--to <KIND>', 'query language', 'local')
    .option('--time-column <NAME>', 'column with the time of an event')
    .option('--mappings <DIR>', 'folder of log source mappings, repeatable', collect)
    .option('--allow-unknown', 'convert rules of unknown log sources')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin sigma convert rules/ --to postgres --time-column at'))
    .action((paths, options) =>
      run(import('./sigma-command.ts').then((module) => module.convertSigma(paths, options))),
    );
  sigma
    .command('import')
    .description('make or update detections of a service; exit code 1 if one fails')
    .argument('<PATH...>', 'files and folders')
    .option('--target <CONNECTION>', 'SIEM connection of the detections; default: the embedded log store')
    .option('--enable', 'enable new detections')
    .option('--allow-unknown', 'import rules of unknown log sources')
    .option('--complete', 'the files are all rules: list the detections of rules that they no longer have')
    .option('--dry-run', 'change nothing')
    .addHelpText('after', examples('tocsin sigma import rules/ --dry-run'))
    .action((paths, options) => run(import('./sigma-command.ts').then((module) => module.importSigma(paths, options))));
}

/** Declares the commands for detections in files. */
export function addFolderCommands(program: Command, run: Run): void {
  program
    .command('pull')
    .description(
      'write the detections of a service to files; exit code 1 if a file was kept because both sides changed',
    )
    .argument('<DIR>', 'folder of the files')
    .option('--force', 'overwrite files that changed on both sides')
    .addHelpText('after', examples('tocsin pull detections'))
    .action((dir, options) => run(import('./as-code-command.ts').then((module) => module.pullCommand(dir, options))));
  program
    .command('plan')
    .description('show what apply would change; exit code 1 if there are conflicts')
    .argument('<DIR>', 'folder of the files')
    .option('--prune', 'also delete detections without a file')
    .option('--force', 'let the files win conflicts')
    .option('--check', 'exit code 3 if there are changes')
    .addHelpText('after', examples('tocsin plan detections --check'))
    .action((dir, options) => run(import('./as-code-command.ts').then((module) => module.planCommand(dir, options))));
  program
    .command('apply')
    .description('change a service to match the files')
    .argument('<DIR>', 'folder of the files')
    .option('--dry-run', 'change nothing')
    .option('--prune', 'also delete detections without a file')
    .option('--force', 'let the files win conflicts')
    .option('--validate', 'check every query on its SIEM first')
    .addHelpText('after', examples('tocsin apply detections --dry-run', 'tocsin apply detections --validate'))
    .action((dir, options) => run(import('./as-code-command.ts').then((module) => module.applyCommand(dir, options))));
  program
    .command('test')
    .description('run the test cases in the files, without a service; exit code 1 if one fails')
    .argument('<DIR>', 'folder of the files')
    .option('--junit <FILE>', 'also write a JUnit report')
    .addHelpText('after', examples('tocsin test detections --junit junit.xml'))
    .action((dir, options) => run(import('./test-command.ts').then((module) => module.testCommand(dir, options))));
}
