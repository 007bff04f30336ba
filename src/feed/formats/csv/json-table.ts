import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import { isColumnName, isValueName } from './list-columns.ts';
import {
  asObject,
  asScalarText,
  asText,
  isObject,
  parseJsonText,
  splitJsonLines,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** `date` is ISO text: when the list was made, if it says so. */
type JsonTable = {
  columns: string[];
  rows: string[][];
  date: string | undefined;
  /** The name of the list. */
  about: string | undefined;
};

const columnsMax = 64;
/** Exporters put their entries into a field, or into fields that are the entries' ids. */
const depthMax = 3;

/** Reads a list in JSON: an array, an object that contains the entries, or an object per line. Returns undefined if the text is not JSON. Throws an Error for more rows. */
export function readJsonTable(text: string, rowsMax: number): JsonTable | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const whole = parseOrUndefined(text);
  if (isObject(whole) && Array.isArray(whole['list']) && Array.isArray(whole['matching_attributes']))
    throw new ExternalError('the document is a warning list of MISP, whose values are harmless');
  const entries = whole === undefined ? readLines(text) : collectEntries(whole, depthMax);
  if (!entries) return undefined;
  const notes = entries.filter(({ type }) => type === 'metadata');
  const listed = notes.length === 0 ? entries : entries.filter(({ type }) => type !== 'metadata');
  if (listed.length > rowsMax) throw new ExternalError(`the list has more than ${rowsMax} rows`);
  const flat = listColumns(listed).some(isValueName) ? listed : listed.map((entry) => flatten(entry));
  const columns = listColumns(flat);
  const rows = flat.map((entry) => columns.map((name) => toCell(entry[name])));
  const { name, title } = asObject(whole);
  const about = listed.length > 1 ? (asText(name) ?? asText(title))?.slice(0, 200) : undefined;
  return { columns, rows, date: parseSeconds(notes[0]?.['timestamp']), about };
}

/** Reads JSON Lines. Returns undefined if the first line is not JSON. A damaged line becomes an entry without fields, unless most are damaged. */
function readLines(text: string): JsonObject[] | undefined {
  const entries = splitJsonLines(text).map(parseOrUndefined);
  if (!isObject(entries[0])) return undefined;
  const damaged = entries.findIndex((entry) => !isObject(entry));
  if (entries.filter(isObject).length < entries.length / 2)
    throw new ExternalError(`line ${damaged + 1} of the list is not a JSON object`);
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

const nestedMax = 6;

/** Returns the fields of an entry and of the objects in it, with the shortest part of their path that is the name of a column. */
function flatten(entry: JsonObject, path: string[] = [], fields: JsonObject = {}): JsonObject {
  for (const [name, value] of Object.entries(entry)) {
    const full = [...path, name];
    if (isObject(value) && path.length < nestedMax) flatten(value, full, fields);
    else fields[toNestedName(full)] ??= value;
  }
  return fields;
}

function toNestedName(path: string[]): string {
  const suffixes = path.map((_, index) => path.slice(index).join('_'));
  return suffixes.find(isColumnName) ?? suffixes[0]!;
}

const toCell = (value: unknown): string =>
  toStorableText(Array.isArray(value) ? value.map(toElement).filter(Boolean).join(', ') : asScalarText(value)).trim();

/** Returns an element of a list as text: of an object such as `{id, display_name}`, its name. */
function toElement(value: unknown): string {
  const { display_name: displayed, name } = asObject(value);
  return asScalarText(value) || asText(displayed) || asText(name) || '';
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

const parseSeconds = (value: unknown): string | undefined =>
  typeof value === 'number' && value > 0 && value < 8e10 ? new Date(value * 1_000).toISOString() : undefined;
