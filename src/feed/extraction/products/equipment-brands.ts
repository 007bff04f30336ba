import { isGenericName } from '../names/generic-names.ts';
import type { CatalogProduct } from './shipped-products.ts';

const brand = String.raw`(\p{Lu}[\p{L}\d-]{2,20}\p{Ll}(?: \p{Lu}\p{Ll}{3,}){0,2})`;
const pair = String.raw`${brand}(?:(?:, | and | or )${brand})?`;
/** Equipment that the text names only by its brand: `products from Acme and Foobar`, `unpatched Acme cameras`. */
const patterns = [
  String.raw`\b(?:products|devices|cameras|routers|controllers|switches|firmware) (?:from|made by|manufactured by) ${pair}(?![\p{L}\d-])`,
  String.raw`\b(?:within|in|affecting|impacting) ${brand} (?:products|devices|cameras|routers|DVRs|NVRs)\b`,
  String.raw`\b(?:unpatched|vulnerable|exposed|hijacked|infected|compromised|outdated) ${brand} (?:IP )?(?:cameras|routers|devices|DVRs|NVRs|switches)\b`,
].map((pattern) => new RegExp(pattern, 'gu'));
const hasEquipment = /\b(?:products|devices|cameras|routers|controllers|switches|firmware|DVRs|NVRs)\b/;

/** Returns the brands of equipment in a sentence about a weakness. */
export function findEquipmentBrands(sentence: string): CatalogProduct[] {
  if (!hasEquipment.test(sentence)) return [];
  return patterns.flatMap((pattern) =>
    [...sentence.matchAll(pattern)].flatMap((match) =>
      [match[1], match[2]].flatMap((name) =>
        name === undefined || isGenericName(name) ? [] : [{ vendor: name, product: name }],
      ),
    ),
  );
}
