import { countOf } from '../lib/text.ts';

export const countHits = (count: number): string => countOf(count, 'hit');
export const countRuns = (count: number): string => countOf(count, 'run');
export const countEvents = (count: number): string => countOf(count, 'event');
