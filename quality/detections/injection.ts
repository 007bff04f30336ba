import { readFileSync } from 'node:fs';
import type { QualityFigure } from '../figures.ts';
import { readRecordedJson } from '../recorded-inputs.ts';
import { measureAttacks, type Planting } from './injection-attacks.ts';

/** Measures how often planted text gets a case dismissed, with models that obey it wherever they read it. */
export async function measureInjection(verbose: boolean): Promise<QualityFigure[]> {
  const recorded = readRecordedJson<{ category: string; text: string }[]>('injection/bipia.json');
  return [
    ...(await measureAttacks(
      'recorded strings',
      recorded.map(({ category: group, text }) => ({ group, text })),
      verbose,
    )),
    ...(await measureAttacks('own strings', files.flatMap(readOwn), verbose)),
  ];
}

const files = ['planted-texts', 'later-texts', 'fresh-texts', 'held-back-texts', 'addressed-texts'];

function readOwn(name: string): Planting[] {
  const text = readFileSync(new URL(`planted/${name}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { style: string; text: string }[]).map(({ style: group, text }) => ({ group, text }));
}
