import type { AffectedProduct } from '../../model/item.schema.ts';
import type { Span } from '../text/stored-text.ts';
import { findDescribedProducts } from './described-products.ts';
import { shippedProducts, type CatalogProduct } from './shipped-products.ts';

export type ExtractedProduct = AffectedProduct & { sentence: Span };

// A product is affected only if its sentence mentions a weakness, versions, or an attack on systems that run it.
const affects =
  /\b(?:CVE-\d{4}-\d{4,7}|vulnerab\w*|exploit\w*|zero[- ]days?|0-days?|flaws?|unpatched|patch(?:ed|es)?|affect(?:s|ed|ing)?|RCE|remote code execution|security (?:update|advisory)|(?:versions?|builds?) (?:prior|before|through|up to|\d))\b/i;
const attacked =
  /\b(?:target(?:s|ed|ing)?|compromis(?:e|es|ed|ing)|attack(?:s|ed|ing)?|backdoors?|implants?|infect(?:s|ed|ing)?|hijack(?:s|ed|ing)?|ransomware|cryptojack\w*|breach(?:ed|es)?)\b/i;
/** Nouns after which a name is a product: `Redis servers` is the product, but `redis` alone may be a word. */
const installed =
  /^(?: \([^)]{1,30}\))?(?:[/,]? (?:and|or|&) [\w.-]+)? (?:servers?|instances?|appliances?|devices?|firewalls?|gateways?|hosts?|hypervisors?|installations?|deployments?|environments?|endpoints?|APIs?|daemons?|systems?|sites?|controllers?|products?|platforms?|customers?)\b/;
// Product names that need the vendor beside them.
const common =
  /^(?:Windows|Office|Edge|Word|Excel|Outlook|Gateway|ADC|ASA|Control|Reader|Horizon|Orion|Docker|PHP|Chrome|Android|Sentry|Crowd|Spark|Defender|Commerce|Pixel|ATP|FTA|VSA|Okta|Neurons|Avalanche|Expedition|Workstation|Email Security|Linux Kernel|iOS|macOS|Safari|Firefox|Java SE|Polkit|Sudo|Confluence|Jira|Jenkins|Redis|Exim)$/;
const version =
  /^[\s,(]{0,3}(?:(?:server|software|versions?|v\.?|releases?|firmware|builds?)\s{1,2}){0,2}((?:(?:before|prior to|earlier than|through|up to(?: and including)?|<=?|≤)\s*)?v?\d{1,5}(?:\.\d{1,6}){0,4}(?:[a-z]\d{0,3})?(?:\s*(?:and|or)\s+(?:earlier|below|prior|later|older))?(?:\s*(?:-|–|to|through)\s*\d{1,5}(?:\.\d{1,6}){1,4})?)/i;
const versionsMax = 20;

/**
 * Extracts the products in sentences about weaknesses or attacks on them, with versions as printed. A product in the title counts if the text
 * is about either. `more` adds products to the shipped list.
 */
export function extractProducts(
  { title, text, sentences }: { title: string; text: string; sentences: Span[] },
  more: CatalogProduct[] = [],
): ExtractedProduct[] {
  const found = new Map<string, ExtractedProduct>();
  const known = more.length > 0 ? [...shippedProducts, ...more] : shippedProducts;
  const seen = new Set<string>();
  for (const sentence of sentences) {
    const printed = text.slice(sentence.start, sentence.end);
    if (seen.has(printed)) continue;
    seen.add(printed);
    const isWeakness = affects.test(printed);
    if (!isWeakness && !attacked.test(printed) && printed !== title) continue;
    if (isWeakness)
      for (const described of findDescribedProducts(printed))
        if (!known.some(({ product }) => described.product.includes(product)))
          found.set(`${described.vendor}\t${described.product}`, {
            ...described,
            versions: [],
            confidence: 0.5,
            sentence,
          });
    for (const { vendor, product } of known) {
      const at = findProduct(printed, vendor, product);
      if (at === undefined) continue;
      if (!isWeakness && !installed.test(printed.slice(at + product.length))) continue;
      const versionText = version.exec(printed.slice(at + product.length))?.[1]?.trim();
      const key = `${vendor}\t${product}`;
      const entry = found.get(key) ?? {
        vendor,
        product,
        versions: [],
        confidence: printed.includes(vendor) ? 0.8 : 0.6,
        sentence,
      };
      const isYear =
        versionText !== undefined &&
        /^(?:19|20)\d\d$/.test(versionText) &&
        !/server|office|exchange|sharepoint/i.test(product);
      if (
        versionText &&
        !isYear &&
        /\d/.test(versionText) &&
        !entry.versions.includes(versionText) &&
        entry.versions.length < versionsMax
      )
        entry.versions.push(versionText);
      found.set(key, entry);
    }
  }
  return dropPartialNames([...found.values()]);
}

function findProduct(sentence: string, vendor: string, product: string): number | undefined {
  let at = sentence.indexOf(product);
  while (at >= 0) {
    const isWhole = !/[\w-]/.test(sentence[at - 1] ?? ' ') && !/[\w]/.test(sentence[at + product.length] ?? ' ');
    const hasVendor =
      product.includes(vendor) || sentence.slice(Math.max(0, at - vendor.length - 12), at).includes(vendor);
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
          one.versions.length === 0,
      ),
  );
