import { isGenericName } from '../names/generic-names.ts';
import { shippedProducts, type CatalogProduct } from './shipped-products.ts';
import { findMatches } from '../text/find-matches.ts';

const brand = String.raw`(\p{Lu}[\p{L}\d-]{2,20}\p{Ll}(?: \p{Lu}\p{Ll}{3,}){0,2})`;
const pair = String.raw`${brand}(?:(?:, | and | or )${brand})?`;
/** Equipment that the text names only by its brand: `products from Acme and Foobar`, `unpatched Acme cameras`. */
const patterns = [
  String.raw`\b(?:products|devices|cameras|routers|controllers|switches|firmware) (?:from|made by|manufactured by) ${pair}(?![\p{L}\d-])`,
  String.raw`\b(?:within|in|affecting|impacting) ${brand} (?:products|devices|cameras|routers|DVRs|NVRs)\b`,
  String.raw`\b(?:unpatched|vulnerable|exposed|internet-exposed|internet-facing|hijacked|infected|compromised|outdated|end-of-life|legacy|insecure|unsecured|neglected) ${brand} (?:IP )?(?:cameras?|routers?|devices?|DVRs?|NVRs?|switch(?:es)?|firewalls?|appliances?)\b`,
  String.raw`\b(?:unpatched|vulnerable|exposed|internet-exposed|internet-facing|outdated|legacy) ${brand} servers?\b`,
].map((pattern) => new RegExp(pattern, 'gu'));
const hasEquipment =
  /\b(?:products|devices?|cameras?|routers?|controllers|switch(?:es)?|firmware|DVRs?|NVRs?|firewalls?|appliances?|servers?)\b/;
/** A brand before its equipment. Two of them in a sentence are a list: `Acme cameras and Foobar DVRs`. */
const equipped =
  /(?<![\p{L}\d-])(\p{Lu}[\p{L}\d-]{1,20}(?: \p{Lu}[\p{L}\d-]{2,20})?)(?: (?:IP|VPN|NAS|SOHO|wireless|security|network))? (?:routers|cameras|DVRs|NVRs|modems|switches|firewalls|NAS devices)\b/gu;
/** `Acme industrial router models AB12 and AB14`. */
const models =
  /(?<![\p{L}\d-])(\p{Lu}[\p{L}\d-]{1,20}) (?:[\p{Ll}-]+ ){0,2}(?:router|camera|device|switch|firewall|modem|gateway|controller) models? ([\p{Lu}][\p{L}\d-]*\d[\p{L}\d-]*)(?:(?:, and |, | and | or )([\p{Lu}][\p{L}\d-]*\d[\p{L}\d-]*))?/gu;

/** Vendors whose equipment is read together with its kind. */
const vendors = new Set(shippedProducts.map(({ vendor }) => vendor));

/** Returns the brands of equipment in a sentence about a weakness. */
export function findEquipmentBrands(sentence: string): CatalogProduct[] {
  if (!hasEquipment.test(sentence)) return [];
  const pairs = findMatches(equipped, sentence)
    .map(([, name = '']) => name)
    .filter((name) => !isGenericName(name));
  const listed = pairs.length > 1 ? pairs.map((name) => ({ vendor: name, product: name })) : [];
  const byModel = [...(sentence.includes(' model') ? findMatches(models, sentence) : [])].flatMap(
    ([, vendor = '', ...products]) =>
      products.flatMap((product) => (product === undefined ? [] : [{ vendor, product: `${vendor} ${product}` }])),
  );
  const byBrand = patterns.flatMap((pattern) =>
    findMatches(pattern, sentence).flatMap((match) =>
      [match[1], match[2]].flatMap((name) =>
        name === undefined || isGenericName(name) ? [] : [{ vendor: name, product: name }],
      ),
    ),
  );
  return [...byModel, ...[...listed, ...byBrand].filter(({ vendor }) => !vendors.has(vendor.split(' ')[0]!))];
}
