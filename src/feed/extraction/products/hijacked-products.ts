import { isRegion } from '../../reference-data/name-forms.ts';
import { isGenericName } from '../names/generic-names.ts';
import type { CatalogProduct } from './shipped-products.ts';
import { findMatches } from '../text/find-matches.ts';

const name = String.raw`(\p{Lu}[\p{L}\d]*(?:[.-][\p{L}\d]+)*(?:\+\+)?(?: \p{Lu}[\p{L}\d-]+){0,2})`;
/** `supply chain attack on Acme Pad`, `compromise of Acme Pad infrastructure`. */
const hijacks = [
  String.raw`\b[Ss]upply[- ][Cc]hain (?:attack|compromise|breach)(?: \w+){0,2}? (?:on|of|targeting|against|involving) (?:the (?:popular |widely used )?)?${name}(?=[,.;:]|$| (?!government|entit|compan|organi|firms|banks|agenc|supplier|vendor))`,
  String.raw`\b(?:[Cc]ompromise|[Bb]reach|[Hh]ijacking) of (?:the )?${name}(?:[’']s)? (?:(?:hosting|update|build|official) )?(?:infrastructure|update servers?|update mechanism|updates?|installers?)\b`,
  String.raw`\b(?:[Tt]rojani[sz]ed|[Bb]ackdoored) ${name} (?:installers?|updates?|packages?)\b`,
].map((pattern) => new RegExp(pattern, 'gu'));
const hasCue = /[Ss]upply[- ][Cc]hain|(?:ompromise|reach|ijacking) of |rojani[sz]ed |ackdoored /;

/** Returns the products of a sentence whose updates or installers attackers compromised. */
export function findHijackedProducts(sentence: string): CatalogProduct[] {
  if (!hasCue.test(sentence)) return [];
  return hijacks.flatMap((pattern) =>
    findMatches(pattern, sentence)
      .map((match) => match[1]!)
      .filter((product) => product.length > 2 && !isGenericName(product) && !isRegion(product))
      .map((product) => ({ vendor: product.split(' ')[0]!, product })),
  );
}
