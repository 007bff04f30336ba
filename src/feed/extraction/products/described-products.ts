import { isGenericName } from '../names/generic-names.ts';
import { shippedProducts, type CatalogProduct } from './shipped-products.ts';
import { findMatches } from '../text/find-matches.ts';
import { isRegion, needsCue } from '../../reference-data/name-forms.ts';

const weakness = String.raw`(?:[Vv]ulnerabilit(?:y|ies)|[Ff]laws?|[Bb]ugs?|[Zz]ero[- ][Dd]ays?|RCE|CVE-\d{4}-\d{4,7}\)?|weakness(?:es)?|authentication bypass|(?:command|code|sql) injection|code execution)`;
const word = String.raw`(?:\p{Lu}[\p{L}\d]*(?:[.-][\p{L}\d]+)*)`;
const name = String.raw`(${word}(?: (?:${word}|\d{1,4}(?= \p{Lu}))){0,4})`;

/** A product after its weakness: `a flaw in the Acme Gatekeeper platform`. */
const after = new RegExp(
  String.raw`\b${weakness}\b[^.;!?\n]{0,60}?\b(?:in|affecting|impacting|affects|impacts) (?:the |its |an? |all |some |unpatched |popular |widely used |widely-used |open[- ]source |enterprise |legacy |on-prem(?:ises)? )*${name}(?:(?:, and |, | and | or )${name})?(?![’'\w])`,
  'gu',
);
/** A product that systems run: `servers running Acme Gatekeeper`. */
const running = new RegExp(
  String.raw`\b(?:systems|servers|devices|appliances|hosts|sites|instances|networks|endpoints) (?:running|that run) (?:the |an? |vulnerable |outdated |unpatched )*${name}(?![’'\w])`,
  'gu',
);
/** A product before its weakness: `Acme Gatekeeper vulnerability`. */
const before = new RegExp(
  String.raw`(?<![\p{L}\d-])${name} (?:\([^)]{1,40}\) )?(?:server |platform |plugin |software |firewall )?(?:zero[- ]day|vulnerabilit(?:y|ies)|flaws?|authentication bypass)\b`,
  'gu',
);
/** A product after its weakness in Romance languages, German and Dutch: `falha em seu Acme Gatekeeper`, `Schwachstelle in Acme Gatekeeper`. */
const afterForeign = new RegExp(
  String.raw`(?<!\p{L})(?:[Vv]ulnérabilité|[Ff]aille|[Vv]ulnerabilidade?s?|[Ff]all[ao]|[Ff]alha|[Vv]ulnerabilità|(?:Sicherheits)?[Ll]ücke|Schwachstelle|[Kk]wetsbaarheid)n?[^.;!?\n]{0,60}?(?<!\p{L})(?:dans|affecte|affectant|touche|en|em|no|na|afecta|afecta a|afeta|in|nel|nella|nei|colpisce|betrifft)(?: (?:le|la|les|el|los|las|seu|sua|o|a|os|as|il|lo|der|den|die|dem|het|de|los sistemas|os sistemas|les produits|los productos|os produtos))* ${name}(?![’'\w])`,
  'gu',
);
/** The nickname of a weakness: `FoobarShell vulnerability`. */
const nickname = /^\p{Lu}\p{L}*(?:Shell|Bleed|Logon|Nightmare|Leak)$/u;
const device =
  '(?:appliances?|devices?|routers?|firewalls?|gateways?|switches|cameras?|NAS|VPNs?|software|firmware|operating system|controllers?|servers|instances)';
const deviceNoun = new RegExp(String.raw`[\p{L}\d)] ${device}(?![\p{L}\d-])`, 'u');
const kindOfDevice = '(?: (?:security|email|network|edge|mobile|web|VPN|NAS|router|camera|remote access))?';
/** Products directly before their kind: `Acme Mailgate appliances`. */
const installed = new RegExp(
  String.raw`(?<![\p{L}\d-])${name}(?:(?:, and |, | and | or )${name})?${kindOfDevice} ${device}(?![\p{L}\d-])`,
  'gu',
);
/** A model name, which cannot be a word or a brand: `AC-WRT`. */
const firmware = /^[A-Z]{2,5}-[A-Z\d]{2,6}$/;
const acronym = String.raw`\(\p{Lu}{2,6}\)`;
/** Products that are named by common words, with their initials in parentheses: `Mail Gateway (MG) and Mail and Web Manager (MWM) appliances`. */
const withInitials = new RegExp(
  String.raw`(?<![\p{L}\d-])((?:\p{Lu}[\p{L}\d]* )(?:(?:\p{Lu}[\p{L}\d]*|and) ){1,5})\((\p{Lu}{2,6})\)(?=(?:,? (?:and |or )?[\p{L}\d ]{3,60}${acronym})?${kindOfDevice} ${device}(?![\p{L}\d-]))`,
  'gu',
);
/** Equipment of a vendor that the text gives no other name: `Acme routers`. */
const hardware =
  /^(?:(?:, | and | or )\p{Lu}[\p{L}-]+){0,2} (?:(?:VPN|SSL VPN|NAS|edge|IoT|SOHO|wireless|email security|network) )?(?:routers?|firewalls?|cameras?|switches|appliances?|gateways|VPNs|DVRs|NVRs|modems|(?<=(?:VPN|NAS|edge|IoT|network) )(?:devices|appliances|servers))\b/u;

/** Capitalized words before or after a weakness that are not products. */
const noProduct =
  /^(?:The|This|These|Those|An?|Its?|Known|Exploited|Critical|High|Severe|New|Recent|Multiple|Several|Two|Three|Four|Security|Remote|Code|Execution|Local|Privilege|Escalation|Patch|Tuesday|CISA|NVD|KEV|CVE|CVSS|RCE|LPE|XSS|SSRF|SQL|API|APIs|Active|Actively|Attackers|Hackers|Researchers|January|February|March|April|May|June|July|August|September|October|November|December|Monday|Wednesday|Thursday|Friday|Saturday|Sunday|On|In|At|For|If|When|While|Since|After|Before|Both|All|Also|However|Ukraine|Russia|China|Iran|Europe|Israel|Government|Server|Servers|Update|Cyber|Threat|Team|Zero|Day|Zero-Day|Chinese|Russian|Iranian|State|Citrix Bleed)$/;

/** Weaknesses in the languages of `afterForeign`. */
const foreignWeakness = /vuln[eé]rabi|[Ff]aille|[Ff]al[hl]|ücke|Schwachstelle|kwetsbaar/;
const vendors = new Set(shippedProducts.map(({ vendor }) => vendor));
const hardwareVendors = [...vendors].filter((vendor) => vendor !== 'Linux');

/** Returns the products that a sentence about a weakness introduces, whether or not a list has them. */
export function findDescribedProducts(sentence: string): CatalogProduct[] {
  const found: CatalogProduct[] = [];
  for (const { printed, pattern } of findNames(sentence)) {
    if (pattern === afterForeign && !isProductLike(printed)) continue;
    const product = toProduct(printed, sentence);
    if (product) found.push(product);
  }
  return found;
}

/** Returns the names beside the weaknesses of a sentence, each with the pattern that found it. */
function findNames(sentence: string): { printed: string; pattern: RegExp }[] {
  const patterns = [after, before];
  if (sentence.includes(' run')) patterns.push(running);
  if (foreignWeakness.test(sentence)) patterns.push(afterForeign);
  return patterns.flatMap((pattern) =>
    findMatches(pattern, sentence).flatMap((match) =>
      [match[1], match[2]].filter((name) => name !== undefined).map((printed) => ({ printed, pattern })),
    ),
  );
}

/** Returns the products and the equipment of known vendors in a sentence about a weakness or an attack, by the words after their names. */
export const findInstalledProducts = (sentence: string): CatalogProduct[] =>
  deviceNoun.test(sentence)
    ? [...findNamedDevices(sentence), ...findAbbreviatedProducts(sentence), ...findEquipment(sentence)]
    : [];

function findNamedDevices(sentence: string): CatalogProduct[] {
  const found: CatalogProduct[] = [];
  for (const match of findMatches(installed, sentence)) {
    const first = toProduct(match[1]!);
    for (const printed of [match[1], match[2]]) {
      const product = printed === undefined ? undefined : ofVendor(toProduct(printed), first);
      if (product && isClearDevice(product)) found.push(product);
    }
  }
  return found;
}

/** Returns whether a name is clearly that of a device. Without a vendor, one word is as likely a platform or a brand. */
const isClearDevice = ({ vendor, product }: CatalogProduct): boolean =>
  vendors.has(vendor) || product.split(' ').length > 2 || firmware.test(product);

/** Returns the products that are followed by their initials in parentheses. */
function findAbbreviatedProducts(sentence: string): CatalogProduct[] {
  const found: CatalogProduct[] = [];
  for (const [, words, initials] of findMatches(withInitials, sentence)) {
    const product = words!.trim();
    if (product.replaceAll(/[^\p{Lu}]/gu, '') !== initials || noProduct.test(product)) continue;
    const owner = [...vendors].find((vendor) => product.startsWith(`${vendor} `) || sentence.includes(`${vendor} `));
    found.push({ vendor: owner ?? product.split(' ')[0]!, product: product.replace(`${owner} `, '') });
  }
  return found;
}

/** Returns the equipment of vendors that has no other name, such as `Acme routers`. */
function findEquipment(sentence: string): CatalogProduct[] {
  const found: CatalogProduct[] = [];
  for (const vendor of hardwareVendors)
    for (let at = sentence.indexOf(vendor); at >= 0; at = sentence.indexOf(vendor, at + vendor.length)) {
      const equipment = hardware
        .exec(sentence.slice(at + vendor.length, at + vendor.length + 60))?.[0]
        .split(/(?<=^|(?:and|or|,) \p{Lu}[\p{L}-]*) /u)
        .at(-1)!
        .trim();
      if (equipment && !/[\p{L}\d-]$/u.test(sentence.slice(0, at))) found.push({ vendor, product: equipment });
    }
  return found;
}

/** Returns a product of a list with the vendor of the first one if it states no vendor: `Acme Gatekeeper and Mailgate servers`. */
const ofVendor = (product: CatalogProduct | undefined, first: CatalogProduct | undefined): CatalogProduct | undefined =>
  product && first && vendors.has(first.vendor) && product.vendor === product.product && isProductLike(product.product)
    ? { vendor: first.vendor, product: product.product }
    : product;

/** Returns whether a word is more than capitalized, because German capitalizes every noun. */
const isProductLike = (printed: string): boolean =>
  /\p{Ll}\p{Lu}|\d| |^\p{Lu}{3,}/u.test(printed) || vendors.has(printed.split(' ')[0]!);

/** Returns a printed product with its vendor. Common words are a product if they are many and `sentence` mentions a vendor. */
function toProduct(printed: string, sentence = ''): CatalogProduct | undefined {
  const words = printed.split(' ');
  while (words.length > 0 && noProduct.test(words[0]!)) words.shift();
  while (words.length > 0 && noProduct.test(words.at(-1)!)) words.pop();
  const vendor = [words.slice(0, 3), words.slice(0, 2), words.slice(0, 1)]
    .map((some) => some.join(' '))
    .find((some) => vendors.has(some));
  const product = vendor ? words.slice(vendor.split(' ').length).join(' ') : words.join(' ');
  if (nickname.test(product) || /^(?:CVE|CWE)-\d/.test(product)) return undefined;
  const owner = vendor ?? (words.length > 2 ? [...vendors].find((one) => sentence.includes(`${one} `)) : undefined);
  if (owner !== undefined && vendor === undefined && needsCue(product)) return { vendor: owner, product };
  if (
    product.length < 3 ||
    (!vendor && (needsCue(product) || isGenericName(product))) ||
    /^\d/.test(product) ||
    isRegion(product)
  )
    return undefined;
  return { vendor: vendor ?? product.split(' ')[0]!, product };
}

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
const equipmentVendors = new Set(shippedProducts.map(({ vendor }) => vendor));

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
  return [...byModel, ...[...listed, ...byBrand].filter(({ vendor }) => !equipmentVendors.has(vendor.split(' ')[0]!))];
}

const hijackedName = String.raw`(\p{Lu}[\p{L}\d]*(?:[.-][\p{L}\d]+)*(?:\+\+)?(?: \p{Lu}[\p{L}\d-]+){0,2})`;
/** `supply chain attack on Acme Pad`, `compromise of Acme Pad infrastructure`. */
const hijacks = [
  String.raw`\b[Ss]upply[- ][Cc]hain (?:attack|compromise|breach)(?: \w+){0,2}? (?:on|of|targeting|against|involving) (?:the (?:popular |widely used )?)?${hijackedName}(?=[,.;:]|$| (?!government|entit|compan|organi|firms|banks|agenc|supplier|vendor))`,
  String.raw`\b(?:[Cc]ompromise|[Bb]reach|[Hh]ijacking) of (?:the )?${hijackedName}(?:[’']s)? (?:(?:hosting|update|build|official) )?(?:infrastructure|update servers?|update mechanism|updates?|installers?)\b`,
  String.raw`\b(?:[Tt]rojani[sz]ed|[Bb]ackdoored) ${hijackedName} (?:installers?|updates?|packages?)\b`,
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
