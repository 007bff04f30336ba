import { isRegion, needsCue } from '../../reference-data/name-forms.ts';
import { shippedProducts, type CatalogProduct } from './shipped-products.ts';

const weakness = String.raw`(?:[Vv]ulnerabilit(?:y|ies)|[Ff]laws?|[Bb]ugs?|[Zz]ero[- ][Dd]ays?|RCE|CVE-\d{4}-\d{4,7}\)?|weakness(?:es)?|authentication bypass|(?:command|code|sql) injection|code execution)`;
const word = String.raw`(?:\p{Lu}[\p{L}\d]*(?:[.-][\p{L}\d]+)*)`;
const name = String.raw`(${word}(?: (?:${word}|\d{1,4}(?= \p{Lu}))){0,4})`;

/** A product after its weakness: `a flaw in the Acme Gatekeeper platform`. */
const after = new RegExp(
  String.raw`\b${weakness}\b[^.;!?\n]{0,60}?\b(?:in|affecting|impacting|affects|impacts) (?:the |its |an? |all |some |unpatched |on-prem(?:ises)? )*${name}(?![’'\w])`,
  'gu',
);
/** A product before its weakness: `Acme Gatekeeper vulnerability`. */
const before = new RegExp(
  String.raw`(?<![\p{L}\d-])${name} (?:\([^)]{1,40}\) )?(?:server |platform |plugin |software |firewall )?(?:zero[- ]day|vulnerabilit(?:y|ies)|flaws?|authentication bypass)\b`,
  'gu',
);
/** Words that stand with a capital before or after a weakness and are no product. */
const noProduct =
  /^(?:The|This|These|Those|An?|Its?|Known|Exploited|Critical|High|Severe|New|Recent|Multiple|Several|Two|Three|Four|Security|Remote|Code|Execution|Local|Privilege|Escalation|Patch|Tuesday|CISA|NVD|KEV|CVE|CVSS|RCE|LPE|XSS|SSRF|SQL|API|APIs|Active|Actively|Attackers|Hackers|Researchers|January|February|March|April|May|June|July|August|September|October|November|December|Monday|Wednesday|Thursday|Friday|Saturday|Sunday|On|In|At|For|If|When|While|Since|After|Before|Both|All|Also|However|Ukraine|Russia|China|Iran|Europe|Israel|Government|Server|Servers|Update|Cyber|Threat|Team|Zero|Day|Zero-Day|Chinese|Russian|Iranian|State|Citrix Bleed)$/;

const vendors = new Set(shippedProducts.map(({ vendor }) => vendor));

/** Returns the products that a sentence about a weakness introduces, whether or not a list has them. */
export function findDescribedProducts(sentence: string): CatalogProduct[] {
  const found: CatalogProduct[] = [];
  for (const pattern of [after, before])
    for (const match of sentence.matchAll(pattern)) {
      const product = toProduct(match[1]!);
      if (product) found.push(product);
    }
  return found;
}

function toProduct(printed: string): CatalogProduct | undefined {
  const words = printed.split(' ');
  while (words.length > 0 && noProduct.test(words[0]!)) words.shift();
  while (words.length > 0 && noProduct.test(words.at(-1)!)) words.pop();
  const vendor = [words.slice(0, 3), words.slice(0, 2), words.slice(0, 1)]
    .map((some) => some.join(' '))
    .find((some) => vendors.has(some));
  const product = vendor ? words.slice(vendor.split(' ').length).join(' ') : words.join(' ');
  if (product.length < 3 || (!vendor && needsCue(product)) || /^\d/.test(product) || isRegion(product))
    return undefined;
  return { vendor: vendor ?? product.split(' ')[0]!, product };
}
