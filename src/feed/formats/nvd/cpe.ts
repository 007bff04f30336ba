import type { createProductCollector } from '../../extraction/products/product-collector.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';

const depthMax = 10;

/** Adds the products that the configurations of a CVE name as vulnerable (CPE 2.3). */
export function addConfiguredProducts(cve: JsonObject, products: ReturnType<typeof createProductCollector>): void {
  const visit = (node: JsonObject, depth: number): void => {
    for (const match of asObjects(node['cpeMatch'])) {
      const named = match['vulnerable'] === true ? parseCpe(asText(match['criteria']) ?? '') : undefined;
      if (named) products.add(named.vendor, named.product, versionsOf(match, named.version));
    }
    if (depth < depthMax)
      for (const child of [...asObjects(node['nodes']), ...asObjects(node['children'])]) visit(child, depth + 1);
  };
  for (const configuration of asObjects(cve['configurations'])) visit(configuration, 0);
}

/** Vendor, product and version of a formatted string (NISTIR 7695): fields by `:`, escapes by a backslash. */
export function parseCpe(cpe: string): { vendor: string; product: string; version: string } | undefined {
  if (!cpe.startsWith('cpe:2.3:') || cpe.length > 2_000) return undefined;
  const fields = cpe.split(/(?<!\\):/).map((field) => field.replaceAll(/\\(.)/g, '$1'));
  const [vendor = '', product = '', version = '', update = ''] = fields.slice(3);
  if (product === '' || product === '*') return undefined;
  const isSet = (field: string): boolean => field !== '' && field !== '*' && field !== '-';
  return {
    vendor: isSet(vendor) ? vendor.replaceAll('_', ' ') : '',
    product: product.replaceAll('_', ' '),
    version: isSet(version) ? [version, ...(isSet(update) ? [update] : [])].join(' ') : '',
  };
}

function versionsOf(match: JsonObject, version: string): string[] {
  const bounds = [
    ['>=', 'versionStartIncluding'],
    ['>', 'versionStartExcluding'],
    ['<=', 'versionEndIncluding'],
    ['<', 'versionEndExcluding'],
  ].flatMap(([sign, name]) => {
    const bound = asText(match[name!]);
    return bound ? [`${sign} ${bound.trim()}`] : [];
  });
  if (bounds.length > 0) return [bounds.join(', ')];
  return version === '' ? [] : [version];
}
