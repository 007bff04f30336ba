import { toStorableText } from '../../extraction/text/stored-text.ts';
import {
  asObject,
  asScalarText,
  isObject,
  parseJsonText,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';

/** `date` is ISO text: when the list was made, if it says so. */
type JsonTable = { columns: string[]; rows: string[][]; date: string | undefined };

const columnsMax = 64;
/** Exporters put their entries into a field, or into fields that are the entries' ids. */
const depthMax = 3;

/** Reads a list in JSON: an array, an object that contains the entries, or an object per line. Returns undefined if the text is not JSON. Throws an Error for more rows. */
export function readJsonTable(text: string, rowsMax: number): JsonTable | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const whole = parseOrUndefined(text);
  const entries = whole === undefined ? readLines(text) : collectEntries(whole, depthMax);
  if (!entries) return undefined;
  const notes = entries.filter(({ type }) => type === 'metadata');
  const listed = notes.length === 0 ? entries : entries.filter(({ type }) => type !== 'metadata');
  if (listed.length > rowsMax) throw new Error(`the list has more than ${rowsMax} rows`);
  const columns = listColumns(listed);
  const rows = listed.map((entry) => columns.map((name) => toCell(entry[name])));
  return { columns, rows, date: parseSeconds(notes[0]?.['timestamp']) };
}

/** Reads JSON Lines. Returns undefined if the first line is not JSON. A damaged line becomes an entry without fields, unless most are damaged. */
function readLines(text: string): JsonObject[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const entries = lines.map(parseOrUndefined);
  if (!isObject(entries[0])) return undefined;
  const damaged = entries.findIndex((entry) => !isObject(entry));
  if (entries.filter(isObject).length < entries.length / 2)
    throw new Error(`line ${damaged + 1} of the list is not a JSON object`);
  return entries.map(asObject);
}

/** Anything but an object or a text becomes an entry without fields, so that it counts as one that was not read. */
function collectEntries(value: unknown, depth: number): JsonObject[] {
  if (depth === 0) return [{}];
  if (Array.isArray(value))
    return value.flatMap((entry: unknown) =>
      isObject(entry) ? (listMembers(entry) ?? [entry]) : [typeof entry === 'string' ? { value: entry } : {}],
    );
  if (!isObject(value)) return [{}];
  const members = listMembers(value);
  if (members) return members;
  const nested = Object.values(value).filter((field) => isObject(field) || Array.isArray(field));
  return nested.length === 0 ? [value] : nested.flatMap((field) => collectEntries(field, depth - 1));
}

/** Fields of a report that also hold for its indicators. */
const inherited = /^(?:tlp|tags|adversary|threat_?actor|malware_?famil(?:y|ies))$/i;

/** Returns the indicators of an entry or a document that is a report with a list of them, such as a pulse of OTX. */
function listMembers(entry: JsonObject): JsonObject[] | undefined {
  const members = Object.entries(entry).find(
    ([name, field]) => /^(?:indicators|iocs|observables)$/i.test(name) && Array.isArray(field) && field.some(isObject),
  )?.[1];
  if (!members) return undefined;
  const shared = Object.fromEntries(Object.entries(entry).filter(([name]) => inherited.test(name)));
  return (members as unknown[]).filter(isObject).map((member) => ({ ...shared, ...member }));
}

function listColumns(entries: JsonObject[]): string[] {
  const columns = new Set<string>();
  for (const entry of entries) {
    for (const name of Object.keys(entry)) columns.add(name);
    if (columns.size >= columnsMax) break;
  }
  return [...columns].slice(0, columnsMax);
}

const toCell = (value: unknown): string =>
  toStorableText(
    Array.isArray(value) ? value.map(asScalarText).filter(Boolean).join(', ') : asScalarText(value),
  ).trim();

function parseOrUndefined(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

const parseSeconds = (value: unknown): string | undefined =>
  typeof value === 'number' && value > 0 && value < 8e10 ? new Date(value * 1_000).toISOString() : undefined;
