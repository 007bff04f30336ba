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

/** Returns the text of a source file in which every statement with a declared row type passes through `checkRows`, with its place. Lines stay where they are. */
export function checkStatements(path: string, source: string): string {
  return findRowSites(path, source)
    .toReversed()
    .reduce(
      (text, { key, start, name }) =>
        `${text.slice(0, start)}globalThis.checkRows('${key}', ${name})${text.slice(start + name.length)}`,
      source,
    );
}
