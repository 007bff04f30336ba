import type { Field } from './fields.ts';

/** `Attribute[0].value: x`. A name without a step after it starts in lower case, so that `Note: …` in a description is prose. */
const fieldLine = /^((?:[a-z_$@][\w$@-]*|[A-Z][\w$@-]*(?=[.[]))(?:\.[\w$@/-]+|\[\d+\])*): /;
const identities = new Set(['id', 'uuid', 'cveID']);

/**
 * Reads the text that is stored for a structured document: a field per line, `path: value`, and further lines of a value below it. A name
 * that appears again starts the next object. Returns the fields of each object, or null if the text has another form.
 */
export function readLines(text: string): Field[][] | null {
  if (!fieldLine.test(text)) return null;
  const records: Field[][] = [];
  const known = new Set<string>();
  let start = 0;
  for (const line of text.split('\n')) {
    const path = fieldLine.exec(line)?.[1];
    if (path !== undefined) {
      if (known.has(path) || records.length === 0) {
        records.push([]);
        known.clear();
      }
      known.add(path);
      const from = start + path.length + 2;
      records
        .at(-1)!
        .push({ path: toPath(path), value: line.slice(path.length + 2), start: from, end: start + line.length });
    } else {
      const field = records.at(-1)!.at(-1)!;
      field.value += `\n${line}`;
      field.end = start + line.length;
    }
    start += line.length + 1;
  }
  const isRecord = records[0]!.some(({ path }) => path.length > 1 || identities.has(String(path[0])));
  return isRecord ? records.map((fields) => fields.filter(({ value }) => value.trim() !== '')) : null;
}

const toPath = (path: string): Field['path'] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index === undefined ? name : Number(index)));
