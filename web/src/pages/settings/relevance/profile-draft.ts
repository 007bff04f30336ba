// A test reads this file, so it avoids api/relevance.ts, whose imports declare the globals of React.
import type { components, paths } from '../../../api/schema.d.ts';

type Profile = components['schemas']['FeedProfile'];
type ProfileInput = NonNullable<paths['/api/feed/profile']['put']['requestBody']>['content']['application/json'];

/** The profile as it is typed. */
export type ProfileDraft = {
  products: string;
  platforms: string[];
  sectors: string;
  regions: string;
  keywords: string;
  threshold: number;
  sweep: boolean;
};

export const toDraft = ({
  products,
  platforms,
  sectors,
  regions,
  keywords,
  threshold,
  sweep,
}: Profile): ProfileDraft => ({
  products: products.map(({ vendor, product }) => (product ? `${vendor}: ${product}` : vendor)).join('\n'),
  platforms,
  sectors: sectors.join(', '),
  regions: regions.join(', '),
  keywords: keywords.join(', '),
  threshold: Math.round(threshold * 100),
  sweep,
});

const listWords = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Splits at the first colon: the vendor, and the product if one follows. */
function toProduct(line: string): { vendor: string; product?: string } {
  const [vendor = '', ...rest] = line.split(':');
  const product = rest.join(':').trim();
  return { vendor: vendor.trim(), ...(product && { product }) };
}

export const fromDraft = ({ products, platforms, threshold, sweep, ...words }: ProfileDraft): ProfileInput => ({
  products: listWords(products, /\n/).map(toProduct),
  platforms,
  sectors: listWords(words.sectors, /[,\n]/),
  regions: listWords(words.regions, /[,\n]/),
  keywords: listWords(words.keywords, /[,\n]/),
  threshold: threshold / 100,
  sweep,
});
