import { parseNameTable } from '../../src/feed/extraction/names/dictionary/name-dictionary.ts';
import type { ExtractedName } from '../../src/feed/extraction/names/extracted-name.ts';
import { extractNames } from '../../src/feed/extraction/names/extract-names.ts';
import { buildNameTable } from '../../src/feed/reference-data/name-table.ts';
import { measureNameOpenings } from './name-openings.ts';
import { readRecordedRows } from '../recorded-inputs.ts';
import { readRecordedAttack, readRecordedNames } from './recorded-lists.ts';
import type { QualityFigure } from '../figures.ts';

type Row = { title: string; text: string; spans: { type: string; text: string }[] };
type Counts = { hit: number; wrong: number; missed: number };

/** Returns the comparison form of a name, without generic words such as `group`. */
const normal = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/\b(?:gang|group|apt|ransomware|malware)\b/g, ' ')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/**
 * Measures the F1 of distinct names per document, for malware and tools and for groups, with the shipped and the installed names, and the names
 * of labeled openings of public pages, if `folder` has their texts.
 */
export async function measureNames(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const rows = readRecordedRows<Row>('feed/annoctr/dev.ndjson.gz');
  const large = parseNameTable(buildNameTable(readRecordedAttack(), readRecordedNames()));
  return [
    ...figuresOf('shipped lists', (text) => extractNames(text)),
    ...figuresOf('installed lists', (text) => extractNames(text, large)),
    ...measureNameOpenings(verbose, folder),
  ];

  function figuresOf(by: string, find: (text: string) => ExtractedName[]): QualityFigure[] {
    const read = rows.map((row) => ({ row, found: find(row.text) }));
    return [
      figure(`malware and tools, ${by}`, read, { types: ['MALWARE', 'TOOL'], target: 0.85 }),
      figure(`groups, ${by}`, read, { types: ['GROUP'], target: 0.85 }),
    ];
  }

  function figure(
    label: string,
    read: { row: Row; found: ExtractedName[] }[],
    { types, target }: { types: string[]; target: number },
  ): QualityFigure {
    const total: Counts = { hit: 0, wrong: 0, missed: 0 };
    for (const { row, found } of read) {
      const gold = new Set(
        row.spans
          .filter(({ type }) => types.includes(type))
          .map(({ text }) => normal(text))
          .filter(Boolean),
      );
      const ours = new Set(
        found
          .filter(({ kind }) => (kind === 'actor') === types.includes('GROUP'))
          .flatMap(({ printed }) => printed.map(normal))
          .filter(Boolean),
      );
      for (const name of ours) total[gold.has(name) ? 'hit' : 'wrong'] += 1;
      for (const name of gold) if (!ours.has(name)) total.missed += 1;
      if (verbose)
        console.log(
          `${row.title.slice(0, 40)} | ${label} | wrong: ${[...ours].filter((name) => !gold.has(name)).join(', ')} | missed: ${[...gold].filter((name) => !ours.has(name)).join(', ')}`,
        );
    }
    const score = (2 * total.hit) / (2 * total.hit + total.wrong + total.missed);
    return {
      name: `distinct names per document, F1: ${label}`,
      measured: `${score.toFixed(3)} (${total.hit} right, ${total.wrong} wrong, ${total.missed} missed)`,
      target: `≥ ${target}`,
      isMet: score >= target,
    };
  }
}
