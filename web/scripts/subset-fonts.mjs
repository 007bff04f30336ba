// Cuts the fonts down to what nearly every page needs, into `src/styles/fonts/`. Rarer letters come from the whole fonts of the packages,
// which a browser loads only if a page contains such a letter.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import subsetFont from 'subset-font';

const target = join(import.meta.dirname, '../src/styles/fonts');
const require = createRequire(import.meta.url);

const range = (from, to) => String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, n) => from + n));
const ascii = `${range(0x20, 0x7e)}\u00a0`;

/** The letters of each font agree with its `unicode-range` in `base.css`. */
const fonts = [
  {
    name: 'inter',
    letters: ascii + range(0xa1, 0xff) + range(0x2010, 0x2026),
    // Kerning, figures of one width and the letter shapes that `base.css` selects.
    keepFeatures: ['kern', 'mark', 'mkmk', 'ccmp', 'tnum', 'cv05', 'cv11', 'ss03'],
    weight: { min: 400, max: 550 },
  },
  // No ligatures: a value must look like what it is.
  { name: 'jetbrains-mono', letters: ascii + range(0x2010, 0x2026), keepFeatures: [], weight: 400 },
];

mkdirSync(target, { recursive: true });
for (const { name, letters, keepFeatures, weight } of fonts) {
  const source = require.resolve(`@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`);
  const font = await subsetFont(readFileSync(source), letters, {
    targetFormat: 'woff2',
    keepFeatures,
    variationAxes: { wght: weight },
  });
  writeFileSync(join(target, `${name}.woff2`), font);
}
