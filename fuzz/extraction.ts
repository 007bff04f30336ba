import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';
import { growthMax, measureGrowth, repeated } from '../test/support/linear-time.ts';
import { createRandom } from './random.ts';

const usage = `Extracts texts of repeated fragments and reports those whose time grows faster than their length.

Usage: npm run fuzz:extraction -- [OPTION…]
  --texts N        Number of texts: 2000.
  --seed N         Start of the random sequence: 1.`;

const config = {
  options: { texts: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
} as const;
const { values } = parseOptions(config, usage);
const [texts, seed] = [toCount('texts', values.texts), toCount('seed', values.seed, 0)];
const random = createRandom(seed);

/** Signs, scripts and markup. The other fragments are the words and names of the extraction's own patterns. */
const signs =
  'a A Aa aB 0 1 0a 1. a. é ß 测 。 の 한국 א عرب я 😀 . , ; : ! ? - – _ = + % $ & @ # * / \\ | " \' “ ” ’ ` ( ) [ ] { } < > •'
    .split(' ')
    .concat(' ', '\t', '\n', '\n- ', '\n1. ', '\n# ', '\n| ', '. ', ', ', ' - ', '\u200B', '\u202E', '&amp;', '&#46;')
    .concat(
      'hxxp://',
      'https://',
      '](',
      '[.]',
      'ab'.repeat(16),
      '1.2.3.4 ',
      'evil.com ',
      'C:\\a\\',
      'Lazarus',
      'Emotet',
    );

const sources = globSync('**/*.ts', { cwd: resolve(import.meta.dirname, '../src/feed/extraction') })
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => readFileSync(resolve(import.meta.dirname, '../src/feed/extraction', name), 'utf8'));
const words = [...new Set(sources.flatMap((source) => source.match(/[\p{L}’]{2,}/gu) ?? []))];
const fragments = [...signs, ...words.map((word) => `${word} `), ...words];

const compose = (): string => random.many(1, 4, () => random.pick(fragments)).join('');

const chars = 50_000;
const growthOf = (fragment: string): Promise<number> =>
  measureGrowth(repeated(fragment), (text) => extractItem({ text }), chars);

let steep = 0;
for (let index = 0; index < texts; index += 1) {
  const fragment = compose();
  const growth = await growthOf(fragment);
  if (growth < growthMax) continue;
  steep += 1;
  console.log(JSON.stringify(fragment), growth);
}
console.log({ seed, texts, fragments: fragments.length, steep });
process.exitCode = steep === 0 ? 0 : 1;
