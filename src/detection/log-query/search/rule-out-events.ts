import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { foldCase, plainText } from '../../matching/text-pattern.ts';
import type { ValueTest } from '../../matching/expression.ts';
import type { EventFilter, FieldPath } from '../../log-engine/inspection/event-filter.ts';
import { commandMarks, quoteInWord } from '../../log-engine/sql/added-functions.ts';
import { findField, isCatalogFull, type CatalogField } from '../../log-store/catalog/catalog.ts';
import type { SegmentRow } from '../../log-store/segments.store.ts';

/** What must stand in the lowercase JSON of an event that meets a condition. */
export type Requirement =
  | { kind: 'all' | 'any'; of: readonly Requirement[] }
  | { kind: 'text'; text: string }
  | { kind: 'pattern'; pattern: RegExp };

/** Larger windows are left to the engine, whose start is then a small part of the work. */
const bytesMax = 512 * 1024;
const textsMax = 50;
/** How long queries are compared with events before others get a turn. */
const turnMs = 5;

/**
 * ASCII without what encoders often escape (`"&'+/<>\`) and what JSON has outside of strings, which the text of an object in a column may have in another
 * form.
 */
const plainRun = /[ !#-%()*\-.0-9;=?-Z^-z|~]+/g;
/** An escape of a character of such a run, or of one whose lower case is an ASCII letter. */
const escapedPlain = /\\u(?:00(?!2[267bcf]|3[ace]|5[bcd]|7[bdf])[2-7][0-9a-f]|0130|212a)/;
/** A number may have another form as text: `1e3` is `1000.0`. */
const maybeNumber = (run: string): boolean => /^[ .\-\de]*$/.test(run) || 'infinity nan'.includes(run);
/** Begins the text of nothing but a string, whose quotes are never escaped. */
const stringOnly = /^(?!(?:true|false|null|nan|inf|infinity)$)[a-z][ !#-%()*\-.0-9;=?-Z^-z|~]*$/;

const quoteMark = String.raw`(?:\\"|\\u0022)`;
const codes = commandMarks.map((mark) => mark.charCodeAt(0).toString(16).padStart(4, '0'));
/** What hides words of a command, see `plain_command`. */
const hiddenWord = new RegExp(
  [
    `[\\${commandMarks.join('')}]`,
    String.raw`\\u(?:${codes.join('|')})`,
    `${quoteMark}{2}`,
    quoteInWord.toLowerCase().replace('"', quoteMark),
  ].join('|'),
);
const markTexts = new Set<string>([...commandMarks, '""']);

/** Returns what events need for a filter of a dataset with these columns, or undefined if that is not known. */
export function findRequirement(filter: EventFilter, fields: CatalogField[]): Requirement | undefined {
  if (filter.kind === 'test')
    return filter.paths.every((path) => isText(path, fields)) ? readTest(filter.test) : undefined;
  const parts = filter.of.map((one) => findRequirement(one, fields));
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0 || (filter.kind === 'any' && known.length < parts.length)) return undefined;
  return { kind: filter.kind, of: known };
}

/** Returns whether a value is the text that the event has. Other columns convert it. */
function isText({ keys, isExact }: FieldPath, fields: CatalogField[]): boolean {
  if (isExact) return true;
  const field = findField(fields, keys[0]!);
  return field ? field.type === 'VARCHAR' : !isCatalogFull(fields);
}

function readTest(test: ValueTest): Requirement | undefined {
  if (test.kind === 'regex' && test.source === quoteInWord) return { kind: 'pattern', pattern: hiddenWord };
  if (test.kind !== 'text') return undefined;
  const whole = foldCase(plainText(test.pattern) ?? '');
  if (stringOnly.test(whole)) return { kind: 'text', text: `"${whole}"` };
  const texts = test.pattern.flatMap((part) => ('text' in part ? [foldCase(part.text)] : []));
  if (texts.length === 1 && markTexts.has(texts[0]!)) return { kind: 'pattern', pattern: hiddenWord };
  const [longest] = texts
    .flatMap((text) => text.match(plainRun) ?? [])
    .filter((run) => !maybeNumber(run))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : { kind: 'text', text: longest };
}

/** The events of a window as lines of text. */
export type WindowText = { canMatch: (requirement: Requirement) => boolean };

/** Creates the text of events, one a line. */
export function createWindowText(text: string): WindowText {
  const whole = foldCase(text);
  const known = new Map<string, boolean>();
  let lines: string[] | undefined;
  const inWhole = (one: string): boolean => {
    const found = known.get(one) ?? whole.includes(one);
    known.set(one, found);
    return found;
  };
  const hasEscapes = escapedPlain.test(whole);
  return {
    canMatch(requirement) {
      if (!hasEscapes && !isMet(requirement, inWhole, whole)) return false;
      lines ??= whole.split('\n');
      return lines.some(
        (line) => isMet(requirement, (one) => line.includes(one), line) || (hasEscapes && escapedPlain.test(line)),
      );
    },
  };
}

function isMet(requirement: Requirement, has: (text: string) => boolean, line: string): boolean {
  switch (requirement.kind) {
    case 'text':
      return has(requirement.text);
    case 'pattern':
      return requirement.pattern.test(line);
    case 'all':
      return requirement.of.every((one) => isMet(one, has, line));
    case 'any':
      return requirement.of.some((one) => isMet(one, has, line));
  }
}

const countTexts = (requirement: Requirement): number =>
  'of' in requirement ? requirement.of.reduce((sum, one) => sum + countTexts(one), 0) : 1;

/** A query over the events of one dataset. */
export type RuledOutQuery = { filter: EventFilter; dataset: string; fields: CatalogField[]; segments: SegmentRow[] };

/**
 * Returns for each query whether no event of its segments can be in its result, as far as a search for texts in small files without Parquet can
 * tell. The files are in `folder`, and those of a dataset are the same for all queries.
 */
export async function ruleOutEvents(
  queries: readonly (RuledOutQuery | undefined)[],
  folder: string,
): Promise<boolean[]> {
  const texts = new Map<string, Promise<WindowText | undefined>>();
  const readText = (query: RuledOutQuery): Promise<WindowText | undefined> => {
    const text = texts.get(query.dataset) ?? readSegments(query.segments, folder);
    texts.set(query.dataset, text);
    return text;
  };
  const results: boolean[] = [];
  let began = performance.now();
  for (const query of queries) {
    const requirement = query && findRequirement(query.filter, query.fields);
    const isUsable = requirement !== undefined && countTexts(requirement) <= textsMax;
    const text = isUsable ? await readText(query!) : undefined;
    results.push(text ? !text.canMatch(requirement!) : false);
    if (performance.now() - began < turnMs) continue;
    await nextTurn();
    began = performance.now();
  }
  return results;
}

async function readSegments(segments: readonly SegmentRow[], folder: string): Promise<WindowText | undefined> {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  if (bytes > bytesMax || segments.some(({ format }) => format !== 'text')) return undefined;
  const files = await Promise.all(segments.map(({ path }) => readFile(join(folder, path), 'utf8')));
  return createWindowText(files.join(''));
}
