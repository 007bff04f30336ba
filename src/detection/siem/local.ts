import type { SiemConnection } from './connector.ts';

/** What the embedded log store gives: functions that are bound to one organization. */
export type LogStoreFunctions = Required<Pick<SiemConnection, 'search' | 'check' | 'fields' | 'firstEventAt'>>;

/** The embedded default. Its windows are sealed by `_ingested`, so that they need no delay behind their slots. */
export const local = {
  label: 'Embedded log store',
  connect: ({ search, check, fields, firstEventAt }: LogStoreFunctions): SiemConnection => ({
    clock: 'ingest',
    delayMs: 0,
    search,
    check,
    fields,
    firstEventAt,
    ping: () => Promise.resolve(),
  }),
};
