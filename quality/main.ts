import { measureCorrections } from './corrections.ts';
import { measureDuplicates } from './duplicates.ts';
import { measureFeeds } from './feeds.ts';
import { measureIndicators } from './indicators.ts';
import { measureNames } from './names.ts';
import { writePage } from './page.ts';
import { measurePassages } from './passages.ts';
import { measureStixOut } from './stix-out.ts';
import { measureTechniques } from './techniques.ts';
import { tableOf } from './table.ts';

/** `npm run quality [-- NAME …] [--list]`: measures the extraction on the recorded inputs and prints a table for each subject. */
const subjects = {
  duplicates: measureDuplicates,
  feeds: measureFeeds,
  indicators: measureIndicators,
  names: measureNames,
  techniques: measureTechniques,
  corrections: measureCorrections,
  passages: measurePassages,
  'stix-out': measureStixOut,
} satisfies Record<string, (verbose: boolean) => Promise<Parameters<typeof tableOf>[0]>>;

const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = names.filter((name) => !Object.hasOwn(subjects, name));
if (unknown.length > 0)
  throw new Error(`There is no ${unknown.join(', ')}. Subjects: ${Object.keys(subjects).join(', ')}.`);
const verbose = process.argv.includes('--list');
const parts: string[] = [];
for (const [name, measure] of Object.entries(subjects)) {
  if (names.length > 0 && !names.includes(name)) continue;
  parts.push(`## ${name}\n\nCommand: \`npm run quality -- ${name}\`\n\n${tableOf(await measure(verbose))}\n`);
  console.log(`\n${parts.at(-1)}`);
}
if (process.argv.includes('--write')) {
  if (names.length > 0) throw new Error('--write needs all subjects.');
  writePage(parts.join('\n'));
}
