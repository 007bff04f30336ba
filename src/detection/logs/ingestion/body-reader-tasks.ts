import { readShipperBody, type ShipperBody, type ShipperBodyTask } from '../shippers/read-shipper-body.ts';
import { readLogBody, type LogBody, type LogBodyTask } from './read-log-body.ts';

/** A body of `POST /api/logs/{dataset}`, or of a shipper's protocol. */
export type BodyTask = LogBodyTask | ShipperBodyTask;

export const readBody = (task: BodyTask): Promise<LogBody | ShipperBody> =>
  'format' in task ? readShipperBody(task) : readLogBody(task);
