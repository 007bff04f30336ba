import { groupItems, type GroupLink } from '../../src/feed/deduplication/groups.ts';
import { type ComparedItem, findPairs, scoreSameStory } from '../../src/feed/deduplication/link-items.ts';
import { similarity, unpackSketch } from '../../src/feed/deduplication/comparison-traits.ts';
import type { ValueHolders } from '../../src/feed/deduplication/deduplication.store.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readExactPairs, readLabelledPairs, type ComparedEntry, type LabelledPair } from './duplicate-inputs.ts';

/** Groups all recorded inputs as one feed, by the rules of the feed, and checks the labelled pairs. */
export async function measureDuplicates(verbose: boolean): Promise<QualityFigure[]> {
  const exact = await readExactPairs();
  const labelled = await readLabelledPairs();
  const entries = [...exact.entries, ...labelled.entries];
  const groupOf = groupEntries(entries);
  const isTogether = ({ a, b }: LabelledPair): boolean => groupOf.get(a) === groupOf.get(b);
  const figures = [...Map.groupBy(exact.pairs, ({ kind }) => kind)].map(([kind, pairs]) => {
    const missed = pairs.filter((pair) => !isTogether(pair));
    if (verbose) for (const { a, b } of missed) console.log(`${kind}, apart: ${a} | ${b}`);
    return createPairFigure(`exact pairs, ${kind}`, pairs.length - missed.length, pairs.length);
  });
  const found = exact.pairs.filter(isTogether).length;
  const negatives = labelled.pairs.filter(({ kind }) => kind !== 'duplicate');
  const merged = negatives.filter(isTogether);
  if (verbose) for (const { kind, a, b } of merged) console.log(`${kind}, together: ${a} | ${b}`);
  const rate = found / exact.pairs.length;
  return [
    ...figures,
    {
      name: 'exact pairs, all',
      measured: `${rate.toFixed(3)} (${found}/${exact.pairs.length})`,
      target: '≥ 0.95',
      isMet: rate >= 0.95,
    },
    {
      name: `hard negatives merged (${negatives.length} related or distinct)`,
      measured: String(merged.length),
      target: '0',
      isMet: merged.length === 0,
    },
    ...labelled.pairs
      .filter(({ kind }) => kind === 'duplicate')
      .map((pair) => ({
        name: `natural pair: ${pair.a} and ${pair.b}`.replaceAll('|', ' '),
        measured: isTogether(pair) ? 'together' : 'apart',
      })),
  ];
}

const createPairFigure = (what: string, part: number, all: number): QualityFigure => ({
  name: what,
  measured: `${formatRatio(part, all)} (${part}/${all})`,
});

function groupEntries(entries: ComparedEntry[]): Map<string, string> {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const nodes = entries.map(({ id, key }) => ({ id, key: `${key} ${id}`, isFixed: false }));
  const links = [...linkEqualKeys(entries), ...linkSameStories(byId)];
  return new Map(groupItems(nodes, links).flatMap((ids) => ids.map((id) => [id, ids[0]!] as const)));
}

/** Links items with equal keys or shared aliases (stage 1). */
function linkEqualKeys(entries: ComparedEntry[]): GroupLink[] {
  const named = entries.flatMap(({ id, key, terms }) => [
    { id, name: `key ${key}` },
    ...terms.filter(({ kind }) => kind === 'alias').map(({ value }) => ({ id, name: `alias ${value}` })),
  ]);
  return [...Map.groupBy(named, ({ name }) => name).values()].flatMap((same) =>
    same.slice(1).map(({ id }): GroupLink => ({ a: same[0]!.id, b: id, kind: 'same', weight: 3 })),
  );
}

/** Links items that describe the same story (stage 2), with the feed's own candidate search and scoring. */
function linkSameStories(byId: Map<string, ComparedEntry>): GroupLink[] {
  const compared = [...byId.values()].flatMap(({ id, terms, sketch }) =>
    terms
      .filter(({ kind, identifying }) => identifying || kind === 'text' || (kind === 'cve' && sketch !== null))
      .map(({ kind, value }) => ({ id, kind, value })),
  );
  const holders = [...Map.groupBy(compared, ({ kind, value }) => `${kind} ${value}`).values()].map(
    (holders): ValueHolders => ({
      kind: holders[0]!.kind,
      value: holders[0]!.value,
      ids: holders.map(({ id }) => id),
    }),
  );
  return findPairs(holders, new Set(byId.keys())).flatMap(({ a, b, rareIndicators }): GroupLink[] => {
    const [one, two] = [byId.get(a)!, byId.get(b)!];
    const [x, y] = [toComparedItem(one), toComparedItem(two)];
    const common = (kinds: string[]): number => {
      const theirs = new Set(
        two.terms.filter(({ kind }) => kinds.includes(kind)).map(({ kind, value }) => `${kind} ${value}`),
      );
      return one.terms.filter(({ kind, value }) => theirs.has(`${kind} ${value}`)).length;
    };
    const weight = scoreSameStory(x, y, {
      rareIndicators,
      names: common(['cve', 'malware', 'actor']),
      vulnerability: common(['cve']) > 0 && common(['product']) > 0,
      similarity: x.sketch && y.sketch ? similarity(x.sketch, y.sketch) : 0,
    });
    return weight === undefined ? [] : [{ a, b, kind: 'same', weight }];
  });
}

const toComparedItem = ({ publisher, publishedAt, sketch, identifying }: ComparedEntry): ComparedItem => ({
  publisher,
  publishedAt,
  sketch: sketch === null ? undefined : unpackSketch(sketch),
  identifying,
});
