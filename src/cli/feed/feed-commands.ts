import type { Command } from '@commander-js/extra-typings';
import { collect, examples, type Run } from '../declare-command.ts';

/** Declares the commands for feed sources and reference data. */
export function addFeedCommands(program: Command, run: Run): void {
  const source = program
    .command('source')
    .description('manage feed sources, shared by all organizations unless --private');
  source
    .command('add')
    .description('add a source from the catalog')
    .requiredOption('--catalogue <NAME>', 'name of the source in the catalog')
    .option('--org <NAME>', 'organization that owns the source')
    .option('--private', 'visible to that organization only')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin source add --catalogue cisa-kev'))
    .action((options) => run(import('./source-command.ts').then((module) => module.createSourceCommand(options))));
  source
    .command('create')
    .description('create a source')
    .requiredOption('--kind <KIND>', 'format of the source')
    .requiredOption('--name <NAME>', 'name of the source')
    .requiredOption('--url <URL>', 'address of the source, https: or file:')
    .option('--org <NAME>', 'organization that owns the source')
    .option('--private', 'visible to that organization only')
    .option('--assigned-to <ORG>', 'organization that sees the source, repeatable', collect)
    .option('--publisher <NAME>', 'publisher of the source')
    .option('--tlp <TLP>', 'Traffic Light Protocol of the items')
    .option('--schedule <CRON>', 'when to pull the source')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tocsin source create --kind rss --name Blog --url https://blog.example/feed.xml --schedule "5 * * * *"',
      ),
    )
    .action((options) => run(import('./source-command.ts').then((module) => module.createSourceCommand(options))));
  source
    .command('list')
    .description('list the sources')
    .option('--org <NAME>', 'organization that sees the sources')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin source list'))
    .action((options) => run(import('./source-command.ts').then((module) => module.listSourcesCommand(options))));
  source
    .command('pull')
    .description('pull a source now; exit code 1 if the pull fails')
    .argument('<ID>', 'ID of the source, from tocsin source list')
    .option('--org <NAME>', 'organization that owns the source')
    .option('--json', 'print JSON, with every skipped entry')
    .addHelpText('after', examples('tocsin source pull 0199c7f2-6a3e-7c11-9d5e-2f60b1a4c8d7'))
    .action((id, options) =>
      run(import('./source-command.ts').then((module) => module.pullSourceCommand(id, options))),
    );
  program
    .command('knowledge')
    .description('manage the reference data of the feed')
    .command('update')
    .description('install the newest techniques, names and lists of harmless values')
    .option('--from <PATH>', 'file or folder with the documents; default: their official addresses')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin knowledge update', 'tocsin knowledge update --from downloads/'))
    .action((options) => run(import('./knowledge-command.ts').then((module) => module.knowledgeCommand(options))));
}
