import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path/posix';

/*
 * The size and the order of `src` are the figures of `house-budget.json`. Tests do not count. `npm run verify` fails if a figure differs,
 * and `npm run generate` lowers those that fell. Who raises one says why in the same commit.
 */

export type Figures = {
  files: number;
  lines: number;
  folders: number;
  /** Folders in the deepest path, `src` included. */
  depth: number;
  longestFile: number;
  /** Files below 60 lines that only one file beside them imports. */
  fragments: number;
  /** Pairs of folders that import each other. */
  mutualFolders: number;
  /** The pairs of these that are not a folder and one inside it. */
  mutualNeighbors: number;
  migrations: number;
};

const budgetFile = resolve(import.meta.dirname, '../house-budget.json');
const fragmentLines = 60;

/** Counts the figures of files, given as path and text. `migrations` is left to the caller. */
export function countFigures(texts: ReadonlyMap<string, string>): Omit<Figures, 'migrations'> & { pairs: string[] } {
  const lines = new Map([...texts].map(([file, text]) => [file, text.split('\n').length - 1]));
  const importers = new Map<string, Set<string>>();
  const edges = new Set<string>();
  for (const [file, text] of texts)
    for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const target = resolve('/', dirname(file), specifier).slice(1);
      if (!texts.has(target)) continue;
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
      edges.add(`${dirname(file)} ${dirname(target)}`);
    }
  const folders = new Set([...texts.keys()].map((file) => dirname(file)));
  const pairs = [...edges].filter((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    return from < to && edges.has(`${to} ${from}`);
  });
  const isFragment = (file: string): boolean => {
    const [only, ...others] = importers.get(file) ?? [];
    return (
      only !== undefined && others.length === 0 && dirname(only) === dirname(file) && lines.get(file)! < fragmentLines
    );
  };
  return {
    files: texts.size,
    lines: [...lines.values()].reduce((sum, count) => sum + count, 0),
    folders: folders.size,
    depth: Math.max(...[...folders].map((folder) => folder.split('/').length)),
    longestFile: Math.max(...lines.values()),
    fragments: [...texts.keys()].filter(isFragment).length,
    mutualFolders: pairs.length,
    mutualNeighbors: pairs.filter((pair) => !isNested(pair)).length,
    pairs,
  };
}

function isNested(pair: string): boolean {
  const [outer = '', inner = ''] = pair.split(' ');
  return inner.startsWith(`${outer}/`);
}

function countTree(): Figures & { pairs: string[] } {
  const files = execFileSync('git', ['ls-files', 'src', 'migrations'], { encoding: 'utf8' }).trim().split('\n');
  const code = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const migrations = files.filter((file) => /^migrations\/\d+_.*\.sql$/.test(file)).length;
  return { ...countFigures(new Map(code.map((file) => [file, readFileSync(file, 'utf8')]))), migrations };
}

if (import.meta.main) {
  const budget = JSON.parse(readFileSync(budgetFile, 'utf8')) as Figures;
  const { pairs, ...figures } = countTree();
  const names = Object.keys(figures) as (keyof Figures)[];
  if (process.argv.includes('--lower')) {
    const lowered = Object.fromEntries(names.map((name) => [name, Math.min(figures[name], budget[name])]));
    writeFileSync(budgetFile, `${JSON.stringify(lowered, null, 2)}\n`);
  } else {
    const exceeded = names.filter((name) => figures[name] > budget[name]);
    for (const name of exceeded)
      console.error(
        `house-budget.json: ${name} is ${figures[name]}, the budget is ${budget[name]}. Merge or remove something, or raise the budget with the reason in the commit.`,
      );
    const fell = names.filter((name) => figures[name] < budget[name]);
    if (fell.length > 0)
      console.error(`house-budget.json: ${fell.join(', ')} fell. Lower the budget with \`npm run generate\`.`);
    if (exceeded.includes('mutualFolders') || exceeded.includes('mutualNeighbors'))
      console.error(`These folders import each other:\n  ${pairs.join('\n  ')}`);
    process.exitCode = exceeded.length + fell.length > 0 ? 1 : 0;
  }
}
