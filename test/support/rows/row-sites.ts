import type { Plugin } from 'vitest/config';

/** A statement with a declared row type: `queryRows<Type>`, `queryRow<Type>` or `` sql<Type>` ``, at `src/file.ts:line:column`. */
export type RowSite = { key: string; start: number; end: number; name: string; type: string };

/** Finds the statements with a declared row type in a source file. */
export function findRowSites(path: string, source: string): RowSite[] {
  return [...source.matchAll(/(?<![\w.])(queryRows?|sql)</g)].flatMap(({ index: start, 1: name }) => {
    const open = start + name!.length;
    const end = findEnd(source, open);
    if (!'(`'.includes(source[end]!)) return [];
    const before = source.slice(0, start).split('\n');
    const key = `${path}:${before.length}:${before.at(-1)!.length + 1}`;
    return [{ key, start, end, name: name!, type: source.slice(open + 1, end - 1) }];
  });
}

/** Returns where the type arguments that begin with `<` at `open` end. */
function findEnd(source: string, open: number): number {
  let depth = 0;
  for (let at = open; at < source.length; at++) {
    if (source[at] === '<') depth++;
    if (source[at] === '>' && source[at - 1] !== '=' && --depth === 0) return at + 1;
  }
  return source.length - 1;
}

/** Makes every statement of `src` with a declared row type pass through `checkRows`, with its place. Lines stay where they are. */
export function checkedRows(root: string): Plugin {
  return {
    name: 'checked-rows',
    enforce: 'pre',
    transform(code, id) {
      const path = id.slice(root.length + 1).split('?')[0]!;
      if (!/^src\/.*\.ts$/.test(path) || path.endsWith('.test.ts') || path === 'src/platform/db/db.ts')
        return undefined;
      const sites = findRowSites(path, code).toReversed();
      return sites.reduce(
        (text, { key, start, name }) =>
          `${text.slice(0, start)}globalThis.checkRows('${key}', ${name})${text.slice(start + name.length)}`,
        code,
      );
    },
  };
}
