import type { BodyReader } from '../../../src/detection/shippers/body-reader.ts';
import { readBody, type ReaderTask } from '../../../src/detection/shippers/read-shipper-body.ts';

/** Reads bodies without threads, so that a test may send the same bytes again. */
export const bodyReaderInThisThread: BodyReader = {
  // The kind of the result follows from that of the task.
  read: ((_orgId: string, task: ReaderTask) => readBody(task)) as BodyReader['read'],
  observe: ((_orgId: string, task: ReaderTask) => readBody(task)) as BodyReader['observe'],
  close: async () => undefined,
};
