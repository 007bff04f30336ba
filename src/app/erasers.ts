import type { ValueEraser } from '../platform/retention/erase-value.ts';
import { eraseFromRuns } from '../detection/runs/run-retention.store.ts';
import { eraseFromEnrichments } from '../platform/enrichment/enrichers.store.ts';
import { eraseFromOutbox } from '../platform/notifications/deliveries.store.ts';
import { eraseFromHits } from '../detection/hits/hit-retention.store.ts';
import { eraseFromIncidents } from '../detection/incidents/incidents.store.ts';
import { eraseFromEntityNotes } from '../detection/entities/entities.store.ts';
import { eraseFromValueLists } from '../detection/value-lists/value-lists.ts';
import { eraseFromSkills } from '../detection/skills/skills.ts';
import { eraseFromDetections } from '../detection/detections/detections.store.ts';
import { eraseFromHunts } from '../agents/hunting/hunts.store.ts';
import { eraseFromSightings } from '../agents/sightings/sightings.store.ts';
import { eraseFromIdempotencyKeys } from '../platform/http/idempotency.store.ts';

/** Erasers of every slice that stores data derived from logs. */
export const erasers: readonly ValueEraser[] = [
  eraseFromRuns,
  eraseFromOutbox,
  eraseFromEnrichments,
  eraseFromHits,
  eraseFromIncidents,
  eraseFromEntityNotes,
  eraseFromValueLists,
  eraseFromSkills,
  eraseFromDetections,
  eraseFromSightings,
  eraseFromHunts,
  eraseFromIdempotencyKeys,
];
