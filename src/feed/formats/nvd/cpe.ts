import type { createProductCollector } from '../../extraction/products/product-collector.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';

const depthMax = 10;

/** Adds the products that the configurations of a CVE mark as vulnerable (CPE 2.3). */
export function addConfiguredProducts(cve: JsonObject, products: ReturnType<typeof createProductCollector>): void {
  const visit = (node: JsonObject, depth: number): void => {
    for (const match of asObjects(node['cpeMatch'])) {
      const cpe = match['vulnerable'] === true ? parseCpe(asText(match['criteria']) ?? '') : undefined;
      if (cpe) products.add(cpe.vendor, cpe.product, readVersions(match, cpe.version));
    }
    if (depth < depthMax)
      for (const child of [...asObjects(node['nodes']), ...asObjects(node['children'])]) visit(child, depth + 1);
  };
  for (const configuration of asObjects(cve['configurations'])) visit(configuration, 0);
}

/** Parses a formatted string (NISTIR 7695), whose fields are separated by `:` and escaped with a backslash. */
function parseCpe(cpe: string): { vendor: string; product: string; version: string } | undefined {
  if (!cpe.startsWith('cpe:2.3:') || cpe.length > 2_000) return undefined;
  const [vendor = '', product = '', version = '', update = ''] = splitFields(cpe);
  if (product === '' || product === '*') return undefined;
  const isSet = (field: string): boolean => field !== '' && field !== '*' && field !== '-';
  return {
    vendor: isSet(vendor) ? vendor.replaceAll('_', ' ') : '',
    product: product.replaceAll('_', ' '),
    version: isSet(version) ? [version, ...(isSet(update) ? [update] : [])].join(' ') : '',
  };
}

/** Returns the fields from the vendor to the update. Most names have no escaped characters, and are split much faster. */
function splitFields(cpe: string): string[] {
  if (!cpe.includes('\\')) return cpe.split(':', 7).slice(3);
  const fields = cpe.split(/(?<!\\):/, 7).slice(3);
  return fields.map((field) => field.replaceAll(/\\(.)/g, '$1'));
}

const bounds = [
  ['>=', 'versionStartIncluding'],
  ['>', 'versionStartExcluding'],
  ['<=', 'versionEndIncluding'],
  ['<', 'versionEndExcluding'],
] as const;

function readVersions(match: JsonObject, version: string): string[] {
  const stated = bounds.flatMap(([sign, name]) => {
    const bound = asText(match[name]);
    return bound ? [`${sign} ${bound.trim()}`] : [];
  });
  if (stated.length > 0) return [stated.join(', ')];
  return version === '' ? [] : [version];
}
