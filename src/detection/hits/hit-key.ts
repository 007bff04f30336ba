import { hash } from 'node:crypto';

/**
 * Returns the key of a hit, unique per detection, as a SHA-256 in hex. A candidate that is found again (by a retry, recheck,
 * backfill or manual run) gets the same key, because nothing that the judge writes is part of it.
 */
export function createHitKey(detectionId: string, entityType: string, entity: string, kindKey: string): string {
  return hash('sha256', JSON.stringify([detectionId, entityType, entity, kindKey]));
}
