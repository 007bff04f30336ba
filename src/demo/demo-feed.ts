import { readFileSync } from 'node:fs';

import { dayMs } from './company/calendar.ts';

/** A file of the demo's threat feed. `kind` is the source kind that reads it. */
export type FeedFile = { kind: 'kev' | 'stix'; name: string; publisher: string; fileName: string; text: string };

const writtenAtMs = Date.UTC(2026, 1, 1);
const writtenDates = /\b202[56]([-.])\d\d\1\d\d/g;

/** Shifts the dates of a feed file by whole days to just before `end`. The dates of the standard's TLP markings do not match and stay. */
function shiftDates(text: string, end: Date): string {
  const shiftMs = Math.floor((end.getTime() - writtenAtMs) / dayMs) * dayMs;
  return text.replaceAll(writtenDates, (date, mark: string) => {
    const moved = new Date(Date.parse(`${date.replaceAll('.', '-')}T00:00:00Z`) + shiftMs);
    return moved.toISOString().slice(0, 10).replaceAll('-', mark);
  });
}

const files: Omit<FeedFile, 'text'>[] = [
  { kind: 'kev', name: 'Demo exploited vulnerabilities', publisher: 'Demo catalog', fileName: 'exploited.kev.json' },
  { kind: 'stix', name: 'Fjordwatch reports', publisher: 'Fjordwatch Research', fileName: 'fjordwatch.stix.json' },
];

/** Builds the fictional feed that matches the intrusion, dated in the weeks before `end`. */
export function buildDemoFeed(end: Date): FeedFile[] {
  return files.map((file) => {
    const text = readFileSync(new URL(`feed/${file.fileName}`, import.meta.url), 'utf8');
    return { ...file, text: shiftDates(text, end) };
  });
}
