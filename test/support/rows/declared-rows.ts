import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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
  const sources = listSources(root).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
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

/** Lists the source files without tests, sorted. What the sources read at run time beside them does not matter for their types. */
function listSources(folder: string): string[] {
  const names = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/${name}`)
    .toSorted();
}

function compile(sources: { path: string; text: string }[]): DeclaredRows {
  const keys: string[] = [];
  const probed = sources.map(({ path, text }) => {
    const sites = findRowSites(path, text).filter(({ key }) => !key.startsWith('src/platform/db/db.ts'));
    if (sites.length === 0) return { path, text };
    const probes = sites.map(({ key, type }) => {
      const index = keys.push(key) - 1;
      return `export const rowProbe${index}: RowKinds<(${type})>[keyof RowKinds<(${type})>] = ${index} as const;`;
    });
    return { path, text: [text, kinds, ...probes].join('\n') };
  });
  const rows: DeclaredRows = {};
  const pattern = /Type '(\d+)' is not assignable to type '([^']*)'/g;
  for (const [, index, union] of compileCopy(probed).matchAll(pattern)) {
    const columns: Record<string, string[]> = (rows[keys[Number(index)]!] = Object.create(null) as Record<
      string,
      string[]
    >);
    for (const [, name, kind] of union!.matchAll(/"(\w+)=(\w+)"/g)) (columns[name!] ??= []).push(kind!);
  }
  return rows;
}

/**
 * Compiles sources in a folder that is kept, so that the compiler reads again only what has changed since. Returns its messages. A run that finds
 * another one at work uses a folder of its own.
 */
function compileCopy(sources: { path: string; text: string }[]): string {
  const kept = join(cache, 'copy');
  const lock = join(cache, 'lock');
  const isOwner = tryLock(lock);
  const copy = isOwner ? kept : mkdtempSync(join(cache, 'copy-'));
  try {
    mkdirSync(copy, { recursive: true });
    for (const name of readdirSync(root))
      if (name !== 'src' && name !== '.git' && !existsSync(join(copy, name)))
        symlinkSync(join(root, name), join(copy, name));
    const paths = new Set(sources.map(({ path }) => path));
    for (const name of existsSync(join(copy, 'src')) ? listSources(copy) : [])
      if (!paths.has(name)) rmSync(join(copy, name));
    for (const { path, text } of sources) writeChanged(join(copy, path), text);
    const compilerOptions = { noErrorTruncation: true, incremental: true, tsBuildInfoFile: './row-types.tsbuildinfo' };
    writeChanged(
      join(copy, 'row-types.json'),
      JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: ['src'] }),
    );
    return runCompiler(copy);
  } finally {
    rmSync(isOwner ? lock : copy, { recursive: true });
  }
}

const staleMs = 600_000;

/** Creates a lock, or replaces one that a killed run left. */
function tryLock(lock: string): boolean {
  try {
    if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > staleMs) rmSync(lock, { recursive: true });
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function writeChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
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
