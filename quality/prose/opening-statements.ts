import { extractItem, type ExtractedItem } from '../../src/feed/extraction/extract-item.ts';
import { findRelationships } from '../../src/feed/exports/relationships/find-relationships.ts';
import type { FeedItem } from '../../src/feed/model/item.schema.ts';
import { toKey } from './name-keys.ts';
import { isSameProduct } from './product-comparison.ts';
import type { LabeledRelationship, Opening, OpeningLabel } from './opening-labels.ts';

/** The labeled values that were found, the found values that are not labeled, and the labeled values that were not found. */
export type Comparison = { right: string[]; wrong: string[]; missed: string[] };

/** Compares the products of an opening, and the relationships that its text states between names, CVEs, sectors and countries. */
export function compareStatements({ label, text }: Opening): { products: Comparison; relationships: Comparison } {
  const item = extractItem({ text, sourceUrl: label.address });
  return { products: compareProducts(label, item), relationships: compareRelationships(label, item) };
}

function compareProducts({ products = [], arguableProducts = [] }: OpeningLabel, item: ExtractedItem): Comparison {
  return compareValues(
    item.affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`),
    { gold: products, arguable: arguableProducts },
    isSameProduct,
  );
}

function compareRelationships(label: OpeningLabel, item: ExtractedItem): Comparison {
  const { malware, actor } = item.classification;
  const forms = new Map([...malware, ...actor].map(({ name, aliases }) => [name, [name, ...aliases].map(toKey)]));
  const isEnd = (found: string, labeled: string): boolean =>
    found === labeled || forms.get(found)?.includes(toKey(labeled)) === true;
  const isSame = (found: LabeledRelationship, other: LabeledRelationship): boolean =>
    found.type === other.type && isEnd(found.source, other.source) && isEnd(found.target, other.target);
  const { right, wrong, missed } = compareValues(
    listRelationships(item),
    { gold: label.relationships ?? [], arguable: label.arguableRelationships ?? [] },
    isSame,
  );
  const print = ({ source, type, target }: LabeledRelationship): string => `${source} ${type} ${target}`;
  return { right: right.map(print), wrong: wrong.map(print), missed: missed.map(print) };
}

/** Lists what the text of an item states, without indicators and techniques, which come from other fields. */
function listRelationships(item: ExtractedItem): LabeledRelationship[] {
  const { storedText, passages, title, severity, language, ...content } = item;
  const supportingPassages = passages.map((charSpan) => ({
    text: storedText.slice(charSpan.start, charSpan.end),
    sourceUrl: '',
    charSpan,
  }));
  const read = { ...content, source: { language }, event: { title, severity }, provenance: { supportingPassages } };
  return findRelationships(read as unknown as FeedItem, storedText)
    .filter(({ type, target }) => type !== 'indicates' && target.kind !== 'technique')
    .map(({ type, source, target }) => ({ source: source.name, type, target: target.name }));
}

/** Compares found values with labeled ones. `isSame` decides whether a found value is a labeled one. */
function compareValues<T>(
  found: T[],
  { gold, arguable }: { gold: T[]; arguable: T[] },
  isSame: (found: T, labeled: T) => boolean,
): { right: T[]; wrong: T[]; missed: T[] } {
  const right = gold.filter((one) => found.some((value) => isSame(value, one)));
  const wrong = found.filter((value) => ![...gold, ...arguable].some((one) => isSame(value, one)));
  return { right, wrong, missed: gold.filter((one) => !right.includes(one)) };
}
