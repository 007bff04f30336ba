import { hashOfFields, type Fields } from './detection-fields-file.ts';

type Marks = { hash: string; name: unknown };

/**
 * Finds each file the one thing that it must be: first what says the same, then what alone has its name, where no other file has that
 * name. Nothing is given to two files.
 */
export function pairFiles<T>(
  files: readonly (readonly [string, Fields])[],
  things: readonly T[],
  marksOf: (thing: T) => Marks,
): Map<string, T> {
  const pairs = new Map<string, T>();
  const free = new Map(things.map((thing) => [thing, marksOf(thing)]));
  for (const [file, fields] of files) {
    const hash = hashOfFields(fields);
    const found = [...free].find(([, marks]) => marks.hash === hash)?.[0];
    if (found !== undefined) give(file, found);
  }
  const left = files.filter(([file]) => !pairs.has(file));
  for (const [file, { name }] of left) {
    const named = [...free].filter(([, marks]) => marks.name === name);
    const isAlone = left.filter(([, fields]) => fields['name'] === name).length === 1;
    if (isAlone && named.length === 1) give(file, named[0]![0]);
  }
  return pairs;

  function give(file: string, thing: T): void {
    pairs.set(file, thing);
    free.delete(thing);
  }
}
