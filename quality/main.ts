import { measureIndicators } from './indicators.ts';
import { measureNames } from './names.ts';
import { measureTechniques } from './techniques.ts';
import { tableOf } from './table.ts';

/** `npm run quality [-- NAME …] [--list]`: measures the extraction on the recorded inputs and prints a table for each subject. */
const subjects = {
  indicators: measureIndicators,
  names: measureNames,
  techniques: measureTechniques,
} satisfies Record<string, (verbose: boolean) => Promise<Parameters<typeof tableOf>[0]>>;

const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const verbose = process.argv.includes('--list');
for (const [name, measure] of Object.entries(subjects)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`\n## ${name}\n\n${tableOf(await measure(verbose))}`);
}
