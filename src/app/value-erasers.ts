import { eraseFromSightings } from '../agents/sightings/sighting-erasure.store.ts';
import { eraseFromDetections } from '../detection/detections/detection-erasure.store.ts';
import { eraseFromHits } from '../detection/hits/hit-retention.store.ts';
import { eraseFromRuns } from '../detection/runs/run-retention.store.ts';
import { eraseFromIdempotencyKeys } from '../platform/http/idempotency.store.ts';
import { eraseFromOutbox } from '../platform/notifications/delivery/outbox-retention.store.ts';
import type { ValueEraser } from '../platform/retention/erase-value.ts';

/** Every slice that stores data derived from logs. */
export const valueErasers: readonly ValueEraser[] = [
  eraseFromRuns,
  eraseFromOutbox,
  eraseFromHits,
  eraseFromDetections,
  eraseFromSightings,
  eraseFromIdempotencyKeys,
];
