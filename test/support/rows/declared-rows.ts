import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { findRowSites } from './row-sites.ts';

/** By place of a statement, the kinds of value that its row type allows in each column, such as `string` and `null`. */
export type DeclaredRows = Record<string, Record<string, string[]>>;

const root = resolve(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache/row-types');

const kinds = `
type RowKind<V> = unknown extends V ? 'any' : V extends null ? 'null' : V extends undefined ? 'undefined' : V extends string ? 'string'
  : V extends number ? 'number' : V extends boolean ? 'boolean' : V extends Date ? 'Date' : V extends Uint8Array ? 'bytes'
  : V extends readonly unknown[] ? 'array' : 'object';
type RowKinds<T> = { [K in keyof T & string]-?: { [V in RowKind<T[K]>]: \`\${K}=\${V}\` }[RowKind<T[K]>] };`;

/**
 * Reads the declared row types of all statements in `src`: compiles a copy in which every type is assigned to something that does not fit, so that
 * the compiler's messages spell it out. Keeps the answer until a source file changes.
 */
export function readDeclaredRows(): DeclaredRows {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).map((name) => `src/${name}`);
  const sources = paths.toSorted().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const hash = createHash('sha256')
    .update(JSON.stringify(sources))
    .update(readFileSync(import.meta.filename));
  const answer = join(cache, `${hash.digest('hex')}.json`);
  if (!existsSync(answer)) {
    mkdirSync(cache, { recursive: true });
    const rows = compile(sources);
    if (Object.keys(rows).length === 0) throw new Error('The compiler named no row type.');
    // Renamed, because several test runs may write it at the same time.
    writeFileSync(`${answer}.${process.pid}`, JSON.stringify(rows));
    renameSync(`${answer}.${process.pid}`, answer);
  }
  return JSON.parse(readFileSync(answer, 'utf8')) as DeclaredRows;
}

function compile(sources: { path: string; text: string }[]): DeclaredRows {
  const copy = mkdtempSync(join(cache, 'copy-'));
  for (const name of readdirSync(root)) {
    if (name !== 'src' && name !== '.git') symlinkSync(join(root, name), join(copy, name));
  }
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  const keys: string[] = [];
  for (const { path, text } of sources) {
    const sites = findRowSites(path, text).filter(({ key }) => !key.startsWith('src/platform/db/db.ts'));
    if (sites.length === 0) continue;
    const probes = sites.map(({ key, type }) => {
      const index = keys.push(key) - 1;
      return `export const rowProbe${index}: RowKinds<(${type})>[keyof RowKinds<(${type})>] = ${index} as const;`;
    });
    writeFileSync(join(copy, path), [text, kinds, ...probes].join('\n'));
  }
  writeFileSync(
    join(copy, 'row-types.json'),
    JSON.stringify({ extends: './tsconfig.json', compilerOptions: { noErrorTruncation: true }, include: ['src'] }),
  );
  const rows: DeclaredRows = {};
  const pattern = /Type '(\d+)' is not assignable to type '([^']*)'/g;
  for (const [, index, union] of runCompiler(copy).matchAll(pattern)) {
    const columns: Record<string, string[]> = (rows[keys[Number(index)]!] = Object.create(null) as Record<
      string,
      string[]
    >);
    for (const [, name, kind] of union!.matchAll(/"(\w+)=(\w+)"/g)) (columns[name!] ??= []).push(kind!);
  }
  rmSync(copy, { recursive: true });
  return rows;
}

function runCompiler(folder: string): string {
  const tsc = join(root, 'node_modules/typescript/lib/tsc.js');
  try {
    return execFileSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false', '-p', 'row-types.json'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
