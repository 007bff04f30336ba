import { groupItems, type GroupLink } from '../src/feed/deduplication/groups.ts';
import { findPairs } from '../src/feed/deduplication/similarity/candidate-pairs.ts';
import { scoreSameStory, type ComparedItem } from '../src/feed/deduplication/similarity/same-story.ts';
import { similarity, unpackSketch } from '../src/feed/deduplication/similarity/sketch.ts';
import type { ValueHolders } from '../src/feed/deduplication/deduplication.store.ts';
import { percent, type Figure } from './table.ts';
import { exactPairs, labelledPairs, type Entry, type Pair } from './duplicate-inputs.ts';

/** Which items of one feed with all the recorded inputs in it belong together, by the rules that the feed itself goes by. */
export async function measureDuplicates(verbose: boolean): Promise<Figure[]> {
  const exact = await exactPairs();
  const labelled = await labelledPairs();
  const entries = [...exact.entries, ...labelled.entries];
  const groupOf = group(entries);
  const isTogether = ({ a, b }: Pair): boolean => groupOf.get(a) === groupOf.get(b);
  const figures = [...Map.groupBy(exact.pairs, ({ kind }) => kind)].map(([kind, pairs]) => {
    const missed = pairs.filter((pair) => !isTogether(pair));
    if (verbose) for (const { a, b } of missed) console.log(`${kind}, apart: ${a} | ${b}`);
    return figure(`exact pairs, ${kind}`, pairs.length - missed.length, pairs.length);
  });
  const found = exact.pairs.filter(isTogether).length;
  const negatives = labelled.pairs.filter(({ kind }) => kind !== 'duplicate');
  const merged = negatives.filter(isTogether);
  if (verbose) for (const { kind, a, b } of merged) console.log(`${kind}, together: ${a} | ${b}`);
  const rate = found / exact.pairs.length;
  return [
    ...figures,
    {
      what: 'exact pairs, all',
      ours: `${rate.toFixed(3)} (${found}/${exact.pairs.length})`,
      target: '≥ 0.95',
      met: rate >= 0.95,
      peer: '',
    },
    {
      what: `hard negatives merged (${negatives.length} related or distinct)`,
      ours: String(merged.length),
      target: '0',
      met: merged.length === 0,
      peer: '',
    },
    ...labelled.pairs
      .filter(({ kind }) => kind === 'duplicate')
      .map((pair) => ({
        what: `natural pair: ${pair.a} and ${pair.b}`.replaceAll('|', ' '),
        ours: isTogether(pair) ? 'together' : 'apart',
        target: '',
        met: undefined,
        peer: '',
      })),
  ];
}

const figure = (what: string, part: number, all: number): Figure => ({
  what,
  ours: `${percent(part, all)} (${part}/${all})`,
  target: '',
  met: undefined,
  peer: '',
});

function group(entries: Entry[]): Map<string, string> {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const nodes = entries.map(({ id, key }) => ({ id, key: `${key} ${id}`, isFixed: false }));
  const links = [...equalLinks(entries), ...storyLinks(byId)];
  return new Map(groupItems(nodes, links).flatMap((ids) => ids.map((id) => [id, ids[0]!] as const)));
}

/** Stage 1: equal keys and shared aliases. */
function equalLinks(entries: Entry[]): GroupLink[] {
  const named = entries.flatMap(({ id, key, terms }) => [
    { id, name: `key ${key}` },
    ...terms.filter(({ kind }) => kind === 'alias').map(({ value }) => ({ id, name: `alias ${value}` })),
  ]);
  return [...Map.groupBy(named, ({ name }) => name).values()].flatMap((same) =>
    same.slice(1).map(({ id }): GroupLink => ({ a: same[0]!.id, b: id, kind: 'same', weight: 3 })),
  );
}

/** Stage 2, with the feed's own search for candidates and its own judgement. */
function storyLinks(byId: Map<string, Entry>): GroupLink[] {
  const compared = [...byId.values()].flatMap(({ id, terms, sketch }) =>
    terms
      .filter(({ kind, identifying }) => identifying || kind === 'text' || (kind === 'cve' && sketch !== null))
      .map(({ kind, value }) => ({ id, kind, value })),
  );
  const holders = [...Map.groupBy(compared, ({ kind, value }) => `${kind} ${value}`).values()].map(
    (held): ValueHolders => ({
      kind: held[0]!.kind,
      value: held[0]!.value,
      ids: held.map(({ id }) => id),
    }),
  );
  return findPairs(holders, new Set(byId.keys())).flatMap(({ a, b, rareIndicators }): GroupLink[] => {
    const [one, two] = [byId.get(a)!, byId.get(b)!];
    const [x, y] = [factsOf(one), factsOf(two)];
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

const factsOf = ({ publisher, publishedAt, sketch, identifying }: Entry): ComparedItem => ({
  publisher,
  publishedAt,
  sketch: sketch === null ? undefined : unpackSketch(sketch),
  identifying,
});
