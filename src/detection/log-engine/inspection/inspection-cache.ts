import { LRUCache } from 'lru-cache';
import type { Inspection } from './inspect-tree.ts';

const bytesMax = 16 * 1024 * 1024;
/** An object takes about this many times the memory of its JSON. */
const objectFactor = 6;

/** Inspections by query text. Bounded by memory, because a query may have 100,000 characters and as many names. */
export type InspectionCache = LRUCache<string, Inspection>;

export function createInspectionCache(): InspectionCache {
  return new LRUCache({
    maxSize: bytesMax,
    maxEntrySize: bytesMax / 8,
    sizeCalculation: (inspection, sql) => 2 * sql.length + objectFactor * JSON.stringify(inspection).length,
  });
}
