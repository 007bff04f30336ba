import type { BodyReader } from '../../../src/detection/logs/ingestion/body-reader.ts';
import { readLogBody } from '../../../src/detection/logs/ingestion/read-log-body.ts';

/** Reads bodies without threads, so that a test may send the same bytes again. */
export const bodyReaderInThisThread: BodyReader = {
  read: (_orgId, task) => readLogBody(task),
  close: async () => undefined,
};
