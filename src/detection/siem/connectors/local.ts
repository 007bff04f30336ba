import type { SiemConnection, SiemConnector } from '../connector.ts';
import { duckdb } from '../dialects/duckdb.ts';
import { singleQuoted, toRegex } from '../sweep-language.ts';

/** The functions of the embedded log store, bound to one organization. */
export type LogStoreFunctions = Required<
  Pick<
    SiemConnection,
    | 'search'
    | 'searchWindows'
    | 'searchTogether'
    | 'check'
    | 'fields'
    | 'firstEventAt'
    | 'lateEvents'
    | 'hasEvents'
    | 'sourcesOf'
  >
>;

const writing = {
  language: 'SQL',
  writing: [
    'One SELECT of DuckDB over datasets by name; the window is applied to every dataset, so do not restrict the time.',
    'Every dataset has _id, _time (UTC), _ingested and _event (the event as JSON). Keys inside of objects have dotted names: request.headers.host.',
    "Read a key that is no column with (_event->>'$.a.b'), and values of mixed types as text with _text.name.",
    '<dataset>_history has the events before the window. $window_start and $window_end are its bounds.',
    'Functions that read files, clocks, settings or random numbers are refused.',
  ].join(' '),
};

/** The embedded log store, which is the default. Its windows are on arrival, except for late events, so they need no delay. */
export const local: SiemConnector<LogStoreFunctions> = {
  label: 'Embedded log store',
  dialect: duckdb,
  timeField: '_time',
  // Reading from `_event` returns null for a field that no event in the window has. A missing column would be an error.
  sweep: {
    text: (field) => `lower(_event->>'$.${field}')`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `regexp_matches(${text}, '${toRegex(patterns)}')`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT _id, _time, _event FROM "${dataset}" WHERE ${condition}`,
  },
  connect: (functions) => ({
    ...functions,
    clock: 'ingest',
    delayMs: 0,
    canHide: true,
    guide: {
      ...writing,
      dialect: duckdb,
      timeField: '_time',
      eventField: null,
      tableOf: (name) => name,
      returnsEvents: () => false,
    },
    ping: () => Promise.resolve(),
  }),
};
