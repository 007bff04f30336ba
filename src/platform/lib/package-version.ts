import { readFileSync } from 'node:fs';

const file = new URL('../../../package.json', import.meta.url);

/** The version of the running program. */
export const packageVersion = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
