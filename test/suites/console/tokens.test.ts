import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/program.ts';

type Color = { lightness: number; chroma: number; hue: number };

const css = readFileSync(join(root, 'web/src/styles/tokens.css'), 'utf8');
const oklch = String.raw`oklch\((\S+) (\S+) (\S+)\)`;
const colors = new Map(
  [...css.matchAll(new RegExp(String.raw`--color-(\S+): light-dark\(${oklch}, ${oklch}\)`, 'g'))].map(
    ([, name, ...numbers]) => {
      const [a, b, c, d, e, f] = numbers.map(Number) as [number, number, number, number, number, number];
      const light: Color = { lightness: a, chroma: b, hue: c };
      const dark: Color = { lightness: d, chroma: e, hue: f };
      return [name!, { light, dark }];
    },
  ),
);

/** Returns the relative luminance (WCAG 2.2) of a color in OKLCH (CSS Color 4), within the gamut of sRGB. */
function luminanceOf({ lightness, chroma, hue }: Color): number {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const inGamut = (value: number): number => Math.min(1, Math.max(0, value));
  const red = inGamut(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const green = inGamut(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const blue = inGamut(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(first: string, second: string, theme: 'light' | 'dark'): number {
  const [a, b] = [first, second].map((name) => luminanceOf(colors.get(name)![theme])) as [number, number];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const states = ['critical', 'high', 'medium', 'low', 'none', 'good', 'bad', 'accent'];
const pairs: [text: string, ground: string, min: number][] = [
  ...['ground', 'surface', 'raised', 'hover', 'selected'].flatMap((ground): [string, string, number][] => [
    ['ink', ground, 7],
    ['muted', ground, 4.5],
  ]),
  ...['ground', 'surface', 'raised'].map((ground): [string, string, number] => ['faint', ground, 4.5]),
  ...states.map((state): [string, string, number] => [state, 'surface', 4.5]),
  ['ink', 'mark', 7],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-hover', 4.5],
  ['line-strong', 'surface', 3],
];

test.each(pairs)('%s on %s has a contrast of at least %d, light and dark', (text, ground, min) => {
  for (const theme of ['light', 'dark'] as const)
    expect(contrastOf(text, ground, theme), theme).toBeGreaterThanOrEqual(min);
});
