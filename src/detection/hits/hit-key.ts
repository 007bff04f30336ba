import { hash } from 'node:crypto';

/** A hit's key, unique per detection: a second arrival (takeover, recheck, backfill, by hand) finds the hit that is there. No wording of a judge is part of it. sha256 hex. */
export function hitKey(detectionId: string, entityType: string, entity: string, kindKey: string): string {
  return hash('sha256', JSON.stringify([detectionId, entityType, entity, kindKey]));
}
