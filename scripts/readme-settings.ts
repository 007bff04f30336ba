import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Settings } from '../src/config.ts';

/** The README with the table of settings made anew from `src/config.ts`. */
export function withSettings(readme: string): string {
  const lines = Object.entries(Settings.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const value =
      fallback.success && fallback.data !== undefined && String(fallback.data) !== ''
        ? `\`${String(fallback.data)}\``
        : '';
    return `| \`${name}\` | ${value} | ${schema.description ?? ''} |`;
  });
  const table = ['| setting | default | meaning |', '|---|---|---|', ...lines].join('\n');
  return readme.replace(
    /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/,
    (_all, open: string, close: string) => `${open}${table}\n${close}`,
  );
}

if (import.meta.main) {
  const path = resolve(import.meta.dirname, '../README.md');
  await writeFile(path, withSettings(await readFile(path, 'utf8')));
  console.log('The settings table of README.md is written.');
}
