import type { SiemConnection, SiemConnector } from '../connector.ts';
import { duckdb } from '../dialects/duckdb.ts';
import { singleQuoted, toRegex } from '../sweep-language.ts';

/** The functions of the embedded log store, bound to one organization. */
export type LogStoreFunctions = Required<
  Pick<SiemConnection, 'search' | 'searchWindows' | 'check' | 'fields' | 'firstEventAt' | 'lateEvents'>
>;

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
  connect: ({ search, searchWindows, check, fields, firstEventAt, lateEvents }) => ({
    clock: 'ingest',
    delayMs: 0,
    search,
    searchWindows,
    check,
    fields,
    firstEventAt,
    lateEvents,
    ping: () => Promise.resolve(),
  }),
};
