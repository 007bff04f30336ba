import type { SiemConnection } from '../connector.ts';

/** The functions of the embedded log store, bound to one organization. */
export type LogStoreFunctions = Required<
  Pick<SiemConnection, 'search' | 'searchWindows' | 'check' | 'fields' | 'firstEventAt' | 'lateEvents'>
>;

/** The embedded log store, which is the default. Its windows are on arrival, except for late events, so they need no delay. */
export const local = {
  label: 'Embedded log store',
  connect: ({ search, searchWindows, check, fields, firstEventAt, lateEvents }: LogStoreFunctions): SiemConnection => ({
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
