import type { CatalogProduct } from './shipped-products.ts';
import { findMatches } from '../text/find-matches.ts';

const item = String.raw`(?<![\p{L}\d.-])\p{Lu}[\p{L}\d.-]*[\p{L}\d](?: \p{Lu}[\p{L}\d.-]*[\p{L}\d]){0,3}(?: \d[\d.]*)?(?: (?:and|or) (?:higher|later|above|earlier|below|prior))?`;
const separator = String.raw`(?:, (?:as well as |and |or |e |et |y |und )?|,? (?:and|or|e|et|y|und|sowie|&) )`;
const lists = new RegExp(`${item}(?:${separator}${item}){2,9}`, 'gu');
const separators = new RegExp(separator, 'u');
const range = / (?:and|or) (?:higher|later|above|earlier|below|prior)/gu;
const version = / \d[\d.]*$/u;

/** Returns the unknown items of lists with at least two known products of one vendor: `FortiOS, FortiFoo and FortiProxy`. */
export function findListedProducts(sentence: string, known: CatalogProduct[]): CatalogProduct[] {
  if (!sentence.includes(', ')) return [];
  return findMatches(lists, sentence).flatMap(([list]) => {
    const items = list
      .replaceAll(range, '')
      .split(separators)
      .map((one) => one.replace(version, ''));
    const vendors = items.map(
      (one) => known.find(({ vendor, product }) => product === one || `${vendor} ${product}` === one)?.vendor,
    );
    const vendor = vendors.find((one, index) => one !== undefined && vendors.indexOf(one) !== index);
    if (vendor === undefined) return [];
    return items
      .map((one, index) => (vendors[index] === undefined ? one.replace(new RegExp(`^${vendor} `), '') : ''))
      .filter((product) => product.length > 3 && !product.includes(vendor))
      .map((product) => ({ vendor, product }));
  });
}
