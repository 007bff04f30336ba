import type { AffectedProduct } from '../../model/item.schema.ts';
import type { Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import {
  findDescribedProducts,
  findInstalledProducts,
  findListedProducts,
  findEquipmentBrands,
  findHijackedProducts,
} from './described-products.ts';
import { shippedProducts, type CatalogProduct } from './shipped-products.ts';

export type ExtractedProduct = AffectedProduct & { sentence: Span };

// A product is affected only if its sentence mentions a weakness, versions, or an attack on systems that run it.
const affects =
  /\b(?:CVE-\d{4}-\d{4,7}|vulnerab\w*|exploit\w*|zero[- ]days?|0-days?|flaws?|bugs?|unpatched|patch(?:ed|es)?|affect(?:s|ed|ing)?|RCE|remote code execution|security (?:update|advisory)|(?:versions?|builds?) (?:prior|before|through|up to|\d))\b/i;
/** A weakness in other languages. */
const affectsForeign =
  /(?<!\p{L})(?:vulnérabilités?|failles?|vulnerabilidad(?:es)?|fall[ao]s?|vulnerabilidades?|falhas?|vulnerabilità|Schwachstellen?|(?:Sicherheits)?[Ll]ücken?|kwetsbaarheid|kwetsbaarheden|уязвимост\p{L}*|вразлив\p{L}*)(?!\p{L})|脆弱性|漏洞|취약점/iu;
const isAboutFlaw = (sentence: string): boolean => affects.test(sentence) || affectsForeign.test(sentence);
const attacked =
  /\b(?:target(?:s|ed|ing)?|compromis(?:e|es|ed|ing)|attack(?:s|ed|ing)?|backdoors?|implants?|infect(?:s|ed|ing)?|hijack(?:s|ed|ing)?|ransomware|cryptojack\w*|breach(?:ed|es)?)\b/i;
/** Nouns after which a name is a product: `Redis servers` is the product, but `redis` alone may be a word. */
const installed =
  /^(?: \([^)]{1,30}\))?(?:[/,]? (?:and|or|&) [\w.-]+)? (?:servers?|instances?|appliances?|devices?|firewalls?|gateways?|hosts?|hypervisors?|installations?|deployments?|environments?|endpoints?|APIs?|daemons?|systems?|sites?|controllers?|products?|platforms?|customers?)\b/;
// Product names that count only beside their vendor.
const common =
  /^(?:Exchange|Windows|Office|Edge|Word|Excel|Outlook|Gateway|ADC|ASA|Control|Reader|Horizon|Orion|Docker|PHP|Chrome|Android|Sentry|Crowd|Spark|Defender|Commerce|Pixel|ATP|FTA|VSA|Okta|Neurons|Avalanche|Expedition|Workstation|Email Security|Linux Kernel|iOS|macOS|Safari|Firefox|Java SE|Polkit|Sudo|Confluence|Jira|Jenkins|Redis|Exim)$/;
const version =
  /^[\s,(]{0,3}(?:(?:server|software|versions?|v\.?|releases?|firmware|builds?)\s{1,2}){0,2}((?:(?:before|prior to|earlier than|through|up to(?: and including)?|<=?|≤)\s*)?v?\d{1,5}(?:\.\d{1,6}){0,4}(?:[a-z]\d{0,3})?(?:\s*(?:and|or)\s+(?:earlier|below|prior|later|older))?(?:\s*(?:-|–|to|through)\s*\d{1,5}(?:\.\d{1,6}){1,4})?)/i;
const versionsMax = 20;

/**
 * Extracts the products in sentences about weaknesses or attacks on them, with versions as printed. A product in the title counts if the text
 * begins with a weakness. `more` adds products to the shipped list.
 */
export function extractProducts(
  { title, sentences }: { title: string; sentences: Sentence[] },
  more: CatalogProduct[] = [],
): ExtractedProduct[] {
  const found = new Map<string, ExtractedProduct>();
  const known = more.length > 0 ? [...shippedProducts, ...more] : shippedProducts;
  const seen = new Set<string>();
  const isAboutWeakness = sentences.slice(0, leadSentences).find(({ text }) => isAboutFlaw(text));
  const isInText = sentences.some(({ text }) => text === title);
  if (!isInText && isAboutWeakness) readSentence({ printed: title, sentence: isAboutWeakness, isWeakness: true });
  for (const sentence of sentences) {
    const { text: printed } = sentence;
    if (seen.has(printed)) continue;
    seen.add(printed);
    const isWeakness = isAboutFlaw(printed) || (printed === title && isAboutWeakness !== undefined);
    if (isWeakness || attacked.test(printed)) readSentence({ printed, sentence, isWeakness });
  }
  return dropPartialNames([...found.values()]);

  function readSentence({ printed, sentence, isWeakness }: ReadSentence): void {
    const described = [
      ...(isWeakness ? [...findDescribedProducts(printed), ...findListedProducts(printed, known)] : []),
      ...findEquipmentBrands(printed),
      ...findInstalledProducts(printed),
      ...findHijackedProducts(printed),
    ];
    for (const one of described)
      if (!known.some((other) => isNameOf(other, one)))
        found.set(`${one.vendor}\t${one.product}`, { ...one, versions: [], confidence: 0.5, sentence });
    for (const { vendor, product } of known) {
      const at = findProduct(printed, vendor, product);
      if (at === undefined) continue;
      const after = printed.slice(at + product.length);
      if (!isWeakness && !installed.test(after)) continue;
      const key = `${vendor}\t${product}`;
      const confidence = printed.includes(vendor) ? 0.8 : 0.6;
      const entry = found.get(key) ?? { vendor, product, versions: [], confidence, sentence };
      addVersion(entry, version.exec(after)?.[1]?.trim());
      found.set(key, entry);
    }
  }
}

/** Returns whether a described product contains the name of a known one. `Acme Gateway` is not the `Gateway` of Citrix. */
const isNameOf = (known: CatalogProduct, described: CatalogProduct): boolean =>
  described.product.includes(known.product) && (known.vendor === described.vendor || !common.test(known.product));

type ReadSentence = { printed: string; sentence: Span; isWeakness: boolean };
/** The sentences that state the subject of a text. */
const leadSentences = 12;

/** Adds a version as printed. A year is one only for products that are named by it. */
function addVersion({ product, versions }: ExtractedProduct, printed: string | undefined): void {
  if (!printed || !/\d/.test(printed) || versions.includes(printed) || versions.length >= versionsMax) return;
  const isYear = /^(?:19|20)\d\d$/.test(printed) && !/server|office|exchange|sharepoint/i.test(product);
  if (!isYear) versions.push(printed);
}

/** Servers of a product in Romance languages: `servidores Exchange`. */
const beforeServer = /(?<!\p{L})(?:servidor(?:es)?|serveurs?|server) $/iu;

function findProduct(sentence: string, vendor: string, product: string): number | undefined {
  let at = sentence.indexOf(product);
  while (at >= 0) {
    const isWhole = !/[\w-]/.test(sentence[at - 1] ?? ' ') && !/[\w]/.test(sentence[at + product.length] ?? ' ');
    const hasVendor =
      product.includes(vendor) ||
      beforeServer.test(sentence.slice(Math.max(0, at - 14), at)) ||
      sentence.slice(Math.max(0, at - vendor.length - 12), at).includes(vendor);
    const isInstalled = vendor === product && installed.test(sentence.slice(at + product.length));
    if (isWhole && (hasVendor || isInstalled || !common.test(product))) return at;
    at = sentence.indexOf(product, at + product.length);
  }
  return undefined;
}

/** Drops `Windows` if the same sentence contains `Windows Server`. */
const dropPartialNames = (products: ExtractedProduct[]): ExtractedProduct[] =>
  products.filter(
    (one) =>
      !products.some(
        (other) =>
          other !== one &&
          other.vendor === one.vendor &&
          other.product.includes(one.product) &&
          other.product !== one.product &&
          other.sentence.start === one.sentence.start &&
          one.versions.every((version) => other.versions.includes(version)),
      ),
  );
