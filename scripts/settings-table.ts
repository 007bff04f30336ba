import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { Settings } from '../src/settings.ts';

export const settingsPage = resolve(import.meta.dirname, '../docs/reference/settings.md');

/** Returns the page with its table of settings generated from `src/settings.ts`. */
export function withSettings(page: string): string {
  const lines = Object.entries(Settings.shape).map(([name, schema]) => {
    const { default: fallback = '' } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const value = fallback === '' ? '' : `\`${String(fallback)}\``;
    return `| \`${name}\` | ${value} | ${schema.description ?? ''} |`;
  });
  const table = ['| setting | default | meaning |', '|---|---|---|', ...lines].join('\n');
  return page.replace(
    /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/,
    (_all, open: string, close: string) => `${open}${table}\n${close}`,
  );
}

if (import.meta.main) {
  await writeFile(settingsPage, withSettings(await readFile(settingsPage, 'utf8')));
  console.log('Wrote docs/reference/settings.md.');
}
