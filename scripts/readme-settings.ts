import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Settings } from '../src/config.ts';

/** Returns the README with its settings table regenerated from `src/config.ts`. */
export function updateSettingsTable(readme: string): string {
  const lines = Object.entries(Settings.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const value =
      fallback.success && fallback.data !== undefined && String(fallback.data) !== ''
        ? `\`${String(fallback.data)}\``
        : '';
    return `| \`${name}\` | ${value} | ${schema.description ?? ''} |`;
  });
  const table = ['| Setting | Default | Meaning |', '|---|---|---|', ...lines].join('\n');
  return readme.replace(
    /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/,
    (_all, open: string, close: string) => `${open}${table}\n${close}`,
  );
}

if (import.meta.main) {
  const path = resolve(import.meta.dirname, '../README.md');
  await writeFile(path, updateSettingsTable(await readFile(path, 'utf8')));
  console.log('Wrote the settings table of README.md.');
}
