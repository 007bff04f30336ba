import type { createProductCollector } from '../../extraction/products/product-platforms.ts';
import { asObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';

type ProductVersion = {
  vendor: string;
  product: string;
  version: string;
  /** The product that contains this one. */
  platform?: ProductVersion;
};

const productsMax = 20_000;
const depthMax = 30;

/** Returns the products of a document's tree by product id (CSAF 2.0, section 3.2.2). */
function readProductTree(tree: JsonObject): Map<string, ProductVersion> {
  const products = new Map<string, ProductVersion>();
  const put = (node: unknown, product: ProductVersion): void => {
    const id = asText(asObject(node)['product_id']);
    if (id && products.size < productsMax) products.set(id, product);
  };
  const walk = (branch: JsonObject, parent: ProductVersion, depth: number): void => {
    const name = asText(branch['name']) ?? '';
    const current = { ...parent };
    if (branch['category'] === 'vendor') current.vendor = name;
    else if (branch['category'] === 'product_name' || branch['category'] === 'product_family') current.product = name;
    else if (branch['category'] === 'product_version' || branch['category'] === 'product_version_range')
      current.version = name;
    else if (current.product === '' && !variants.has(asText(branch['category']) ?? '')) current.product = name;
    put(branch['product'], current.product === '' ? { ...current, ...readPackage(branch['product']) } : current);
    if (depth < depthMax) for (const child of asObjects(branch['branches'])) walk(child, current, depth + 1);
  };
  const toUnbranched = (node: unknown): ProductVersion => ({ vendor: '', product: readName(node), version: '' });
  for (const branch of asObjects(tree['branches'])) walk(branch, { vendor: '', product: '', version: '' }, 0);
  for (const product of asObjects(tree['full_product_names'])) put(product, toUnbranched(product));
  const putCombined = (node: JsonObject, componentId: unknown, platformId: unknown): void => {
    const component = products.get(asText(componentId) ?? '');
    const platform = products.get(asText(platformId) ?? '');
    const fullName = node['full_product_name'];
    put(fullName, component ? { ...component, ...(platform ? { platform } : {}) } : toUnbranched(fullName));
  };
  for (const relation of asObjects(tree['relationships']))
    putCombined(relation, relation['product_reference'], relation['relates_to_product_reference']);
  // CSAF 2.1 has paths instead of relationships.
  for (const path of asObjects(tree['product_paths']))
    putCombined(path, path['beginning_product_reference'], asObjects(path['subpaths'])[0]?.['next_product_reference']);
  return products;
}

/** Categories of branches that contain products and are not products themselves. */
const variants = new Set(['architecture', 'language', 'host_name']);

/** Reads a package without a product name: its package URL, or else its name as a whole. */
function readPackage(product: unknown): { product: string; version?: string } {
  const purl = asText(asObject(asObject(product)['product_identification_helper'])['purl']) ?? '';
  const [, name, version] = /^pkg:[a-z0-9.+-]+\/(?:[^@?#]+\/)?([^@/?#]+)@([^?#]+)/i.exec(purl) ?? [];
  return name && version ? { product: name, version: decodePart(version) } : { product: readName(product) };
}

const readName = (product: unknown): string => asText(asObject(product)['name']) ?? '';

const affectedStatuses = ['known_affected', 'first_affected', 'last_affected'];
const fixedStatuses = ['first_fixed', 'fixed'];

/**
 * Adds the products that the document's vulnerabilities affect, and the products that contain these. A vulnerability that lists only fixed
 * products, as in the advisories of Linux distributions, affects their earlier versions.
 */
export function addAffectedProducts(document: JsonObject, products: ReturnType<typeof createProductCollector>): void {
  const tree = readProductTree(asObject(document['product_tree']));
  const add = ({ vendor, product, version, platform }: ProductVersion, bound: string): void => {
    const isVersion = version !== '' && version !== product;
    const isUsed = isVersion && !(bound && isRange(version));
    products.add(vendor, product, isUsed ? listVersionRanges(version).map((one) => `${bound}${one}`) : []);
    if (platform) add(platform, '');
  };
  for (const vulnerability of asObjects(document['vulnerabilities'])) {
    const status = asObject(vulnerability['product_status']);
    const list = (names: string[]): ProductVersion[] =>
      names.flatMap((name) => asTexts(status[name])).flatMap((id) => tree.get(id) ?? []);
    const affected = list(affectedStatuses);
    for (const product of affected) add(product, '');
    if (affected.length === 0) for (const product of list(fixedStatuses)) add(product, '< ');
  }
}

/** Returns whether a version is a range, such as `vers:rpm/>=1.2` or `>=1.2`. */
const isRange = (version: string): boolean => /^vers:|[<>=*]/.test(version);

const comparison = /^(>=|<=|!=|=|<|>)?\s*(.*)$/;

/**
 * Returns the ranges that a version of a product tree states, as people write them: `vers:npm/>=1.2|<1.5|2.0` (the VERS specification) is
 * `>= 1.2, < 1.5` and `2.0`. `vers:all/*` is `*`. Anything else is returned as it is.
 */
export function listVersionRanges(stated: string): string[] {
  const [, constraints] = /^vers:[a-z0-9.+-]+\/(.*)$/is.exec(stated) ?? [];
  if (constraints === undefined) return [stated];
  const ranges: string[] = [];
  let isOpen = false;
  for (const constraint of constraints.split('|').map((part) => part.trim())) {
    const [, sign = '=', version = ''] = comparison.exec(constraint)!;
    const text = sign === '=' ? decodePart(version) : `${sign} ${decodePart(version)}`;
    if (version === '') continue;
    // An upper bound closes the range of the lower one before it. An exception belongs to the range before it.
    if ((isOpen && sign.startsWith('<')) || (sign === '!=' && ranges.length > 0))
      ranges.push(`${ranges.pop()}, ${text}`);
    else ranges.push(text);
    isOpen = sign.startsWith('>') || (isOpen && sign === '!=');
  }
  return ranges.length > 0 ? ranges : [stated];
}

/** Decodes percent-encoded characters of a text. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
