import { hasField } from '../../detection/library/list-library.ts';
import { listTechniqueIds, loadLibrary, type LibraryEntry } from '../../detection/library/load-library.ts';
import { listWindowsPaths } from '../../detection/log-engine/sql/windows-fields.ts';
import { findEventTime } from '../../detection/log-ingest/events/event-time.ts';
import {
  buildEvent,
  columnSql,
  findLogShape,
  logKinds,
  type LogKind,
  type LogShape,
  partSql,
  quoteSqlText,
  type LogDataset,
} from '../suggestions/log-kinds.ts';
import { loadTemplates, toParts, type QueryTemplate } from '../suggestions/templates/query-templates.ts';

export type Json = Record<string, unknown>;

/** What an attack writes into an event: its fields by path, and when it happens after the attack begins. */
export type AttackEvent = {
  set: readonly (readonly [path: readonly string[], value: unknown])[];
  offsetMs: number;
  /** SQL condition on events of a dataset, with fields as `columnSql` reads them: those that the attack's event would be one of. */
  like: string;
};

/** What a technique looks like in logs of one kind. `source` says which logs these are. */
export type Attack = {
  technique: string;
  source: string;
  /** Returns the events of the attack in the fields of a dataset, or none if the dataset has other logs. */
  eventsFor: (dataset: LogDataset) => AttackEvent[];
};

let attacks: ReadonlyMap<string, readonly Attack[]> | undefined;

/**
 * Returns every attack that can be rehearsed, by technique. They are the samples of the query templates and the events of the tests of shipped
 * detections, where these show one technique only.
 */
export function loadAttacks(): ReadonlyMap<string, readonly Attack[]> {
  attacks ??= Map.groupBy(
    [
      ...loadTemplates().flatMap((template) => (template.match.length > 0 ? [fromTemplate(template)] : [])),
      ...[...loadLibrary().values()].flatMap((entry) =>
        listTechniqueIds(entry).length === 1 ? fromShippedDetection(entry, listTechniqueIds(entry)[0]!) : [],
      ),
    ],
    ({ technique }) => technique,
  );
  return attacks;
}

/** A sample shows the first technique of its template. The others are those that its query can find as well. */
const fromTemplate = (template: QueryTemplate): Attack => ({
  technique: template.techniques[0]!,
  source: logKinds[template.kind].source,
  eventsFor(dataset) {
    const shape = findLogShape(dataset, template.kind);
    if (!shape || template.needs.some((part) => !(part in shape.columns))) return [];
    const main = partSql(shape, logKinds[template.kind].main);
    return template.match.map((sample, n) => {
      const { platform = template.platform, ...parts } = toParts(sample, template.kind);
      const set = [...listPaths(buildEvent(shape, parts)), ...imagePaths(dataset, parts['command'], platform)];
      const like = template.kind === 'windows' ? equals(main, parts['event_id']) : `${main} IS NOT NULL`;
      const condition = isOfHost(template.kind) ? `${like} AND ${platformSql(dataset, shape, platform)}` : like;
      return { set, offsetMs: n * 1000, like: condition };
    });
  },
});

/** Whether logs of a kind have the same form on every platform. */
const isOfHost = (kind: LogKind): boolean => kind === 'process' || kind === 'file';

const systemPaths = ['host.os.type', 'os.type', 'device.os.type', 'event_platform'];
const programPaths = ['Image', 'NewProcessName', 'process.executable', 'winlog.event_data.Image'];

/** SQL condition on events of a platform, which the operating system or else the form of a path shows. An event that shows neither may be of any. */
function platformSql({ columns }: LogDataset, shape: LogShape, platform: unknown): string {
  const names = new Set(columns.map(({ name }) => name));
  const { parent = [], [logKinds[shape.kind].main]: main = [] } = shape.columns;
  const choose = (path: string, windows: string, unix: string): string => {
    const value = columnSql(path);
    return `CASE WHEN regexp_matches(${value}, '${windows}') THEN 'windows' WHEN regexp_matches(${value}, '${unix}') THEN 'unix' END`;
  };
  const tests = [
    ...systemPaths.filter((path) => names.has(path)).map((path) => choose(path, '(?i)^win', '.')),
    ...[...programPaths.filter((path) => names.has(path)), ...parent, ...main].map((path) =>
      choose(path, String.raw`^"?([A-Za-z]:)?\\`, '^"?/'),
    ),
  ];
  return `coalesce(${[...tests, `'${String(platform)}'`].join(', ')}) = '${String(platform)}'`;
}

function listPaths(value: Json, path: readonly string[] = []): AttackEvent['set'][number][] {
  return Object.entries(value).flatMap(([key, child]) =>
    isObject(child) ? listPaths(child, [...path, key]) : [[[...path, key], child] as const],
  );
}

/** Returns the fields that say which program a command line starts, because a rule can read either. */
function imagePaths({ columns }: LogDataset, command: unknown, platform: unknown): AttackEvent['set'][number][] {
  const [, quoted, plain] = /^(?:"([^"]+)"|(\S+))/.exec(typeof command === 'string' ? command : '') ?? [];
  const program = quoted ?? plain;
  if (program === undefined) return [];
  const isWindows = platform === 'windows';
  const file = program.split(/[/\\]/).at(-1)!;
  const name = isWindows && !file.includes('.') ? `${file}.exe` : file;
  const folder = /[/\\]/.test(program)
    ? program.slice(0, -file.length)
    : isWindows
      ? 'C:\\Windows\\System32\\'
      : '/usr/bin/';
  const has = (path: string): boolean => columns.some((column) => column.name === path);
  return [
    ...programPaths.map((path) => [path, folder + name] as const),
    ...['OriginalFileName', 'process.name', 'FileName'].map((path) => [path, name] as const),
  ].flatMap(([path, value]) => (has(path) ? [[path.split('.'), value] as const] : []));
}

function fromShippedDetection(entry: LibraryEntry, technique: string): Attack[] {
  const { product, service } = entry.logSource;
  const cases = entry.tests.tests.filter(({ expect }) => expect.length > 0);
  return Object.entries(entry.datasets).map(([name, fields]): Attack => {
    const events = cases.flatMap((test) => (Array.isArray(test.events) ? test.events : (test.events[name] ?? [])));
    return {
      technique,
      source: `${product} ${service}`,
      eventsFor: (dataset) =>
        name === 'windows' ? toWindowsEvents(dataset, events, fields) : toEvents(dataset, events, fields),
    };
  });
}

/** The share of the fields of an attack that a dataset must have had to be of its kind. */
const alikeMin = 0.7;

/** Events of the service itself replace whole values, because parts of two different actions are no event. */
function toEvents(dataset: LogDataset, events: readonly Json[], fields: readonly string[]): AttackEvent[] {
  const known = knownNames(dataset);
  const keys = [...new Set(events.flatMap((event) => Object.keys(event)))];
  const present = keys.filter((key) => hasField(known, '', key)).length;
  if (!fields.every((field) => hasField(known, '', field)) || present < alikeMin * keys.length) return [];
  const like = `${columnSql(fields[0]!.split('.')[0]!)} IS NOT NULL`;
  return events.map((event) => ({
    ...timing(events, event),
    like,
    set: Object.entries(event).map(([key, value]) => [[key], value]),
  }));
}

/** A Windows event is one of those with its ID. Its fields are where the shipper of the dataset puts them. */
function toWindowsEvents(dataset: LogDataset, events: readonly Json[], fields: readonly string[]): AttackEvent[] {
  const known = knownNames(dataset);
  const findPath = (key: string): string | undefined =>
    listWindowsPaths(key).find((path) => known.has(path.toLowerCase()));
  const idPath = findPath('EventID');
  if (idPath === undefined || !fields.every((field) => hasField(known, 'windows', field))) return [];
  return events.map((event) => ({
    ...timing(events, event),
    like: equals(columnSql(idPath), event['EventID']),
    set: Object.entries(event).flatMap(([key, value]) => {
      const path = known.has(key.toLowerCase()) ? key : findPath(key);
      return path === undefined ? [] : [[path.split('.'), value] as const];
    }),
  }));
}

const knownNames = ({ columns }: LogDataset): Set<string> => new Set(columns.map(({ name }) => name.toLowerCase()));

const equals = (expression: string, value: unknown): string => `${expression} = ${quoteSqlText(String(value))}`;

function timing(events: readonly Json[], event: Json): { offsetMs: number } {
  const [first = 0, own = 0] = [events[0]!, event].map((one) => (findEventTime(one) ?? 0) / 1000);
  return { offsetMs: Math.max(0, own - first) };
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
