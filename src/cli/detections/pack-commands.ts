import type { Command } from '@commander-js/extra-typings';
import { collect, examples, type Run } from '../declare-command.ts';

/** Declares the commands for detection packs. */
export function addPackCommands(program: Command, run: Run): void {
  const pack = program
    .command('pack')
    .description('bring one set of detections to many organizations, with the key of the installation');
  pack
    .command('plan')
    .description('show what apply would change in each organization')
    .argument('<PLACE>', 'folder of the pack, or the address of a Git repository, with #BRANCH')
    .option('--org <NAME>', 'only this organization, repeatable', collect)
    .option('--prune', 'also delete detections that the pack no longer has')
    .option('--force', 'replace what organizations changed')
    .option('--check', 'exit code 3 if there are changes')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin pack plan packs/baseline --check'))
    .action((place, options) => run(import('./pack-command.ts').then((module) => module.planPack(place, options))));
  pack
    .command('apply')
    .description(
      'change the detections of each organization; exit code 1 if something failed, after the rest was applied',
    )
    .argument('<PLACE>', 'folder of the pack, or the address of a Git repository, with #BRANCH')
    .option('--org <NAME>', 'only this organization, repeatable', collect)
    .option('--prune', 'also delete detections that the pack no longer has')
    .option('--force', 'replace what organizations changed')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tocsin pack apply packs/baseline', 'tocsin pack apply https://git.example/soc/baseline.git#main'),
    )
    .action((place, options) =>
      run(import('./pack-command.ts').then((module) => module.applyPackCommand(place, options))),
    );
  pack
    .command('drift')
    .description('report how each organization differs from the pack; exit code 3 if one does')
    .argument('<PLACE>', 'folder of the pack, or the address of a Git repository, with #BRANCH')
    .option('--org <NAME>', 'only this organization, repeatable', collect)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tocsin pack drift packs/baseline --json'))
    .action((place, options) => run(import('./pack-command.ts').then((module) => module.driftOfPack(place, options))));
}
